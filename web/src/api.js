// Calls to the server: the base address, the token, and errors as sentences.

/** Folder of the page, with a slash at the end. Everything is below it, so that the page works behind a proxy. */
export const BASE = new URL('.', location.href).href;

const STORE_KEY = `holdall-token ${new URL(BASE).pathname}`;

/** Takes the token out of the address bar, or from the session of this tab. */
function takeToken() {
  const given = /(?:^#|&)t=([0-9a-zA-Z]+)/.exec(location.hash)?.[1];
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  try {
    if (given) sessionStorage.setItem(STORE_KEY, given);
    return given ?? sessionStorage.getItem(STORE_KEY) ?? '';
  } catch {
    return given ?? '';
  }
}

const token = takeToken();

export const AUTH_HEADERS = { Authorization: `Bearer ${token}` };

/** An error with a sentence for the user and, if there is one, the next step. */
export class Problem extends Error {
  constructor(message, hint, status = 0) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

export const NO_SERVER = new Problem('The server does not answer.', 'Start `holdall serve` again, and open the address that it prints.');

/** Builds the address of a call; parameters that are null or undefined are left out. */
export function address(path, params = {}) {
  const url = new URL(path, BASE);
  for (const [key, value] of Object.entries(params)) if (value != null) url.searchParams.set(key, value);
  return url.href;
}

async function problemOf(response) {
  const hints = { 401: 'Open the whole address that `holdall serve` printed, with what follows the #.' };
  try {
    const { message, hint } = await response.json();
    return new Problem(message, hint ?? hints[response.status], response.status);
  } catch {
    return new Problem(`The server answered ${response.status} ${response.statusText}.`, hints[response.status], response.status);
  }
}

/** Sends a GET request with the token. Returns the response, or throws a `Problem` for a status of 400 and above. */
export async function call(path, params, signal) {
  let response;
  try {
    response = await fetch(address(path, params), { headers: AUTH_HEADERS, signal });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw NO_SERVER;
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

export const callJson = async (path, params, signal) => (await call(path, params, signal)).json();
export const callText = async (path, params, signal) => (await call(path, params, signal)).text();
export const callBuffer = async (path, params, signal) => (await call(path, params, signal)).arrayBuffer();
