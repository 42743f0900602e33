// Start of the page.
import { createRoot } from 'react-dom/client';
import '@h5web/app/styles.css';
import './app.css';
import { ErrorBoundary } from './problem.jsx';
import { Shell } from './shell.jsx';

createRoot(document.getElementById('root')).render(<ErrorBoundary><Shell /></ErrorBoundary>);
