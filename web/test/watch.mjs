// Observation of a page: everything that a scenario must not cause, and the end of its requests.

const QUIET_MS = 300;
const MAX_WAIT_MS = 20_000;

/** Adds console errors, reports of the policy, and answers that were not allowed to `problems`. */
export async function watch(page, problems) {
  const allowed = new Set();
  const texts = [];
  let open = 0;
  let last = Date.now();
  const isCounted = (request) => !request.url().includes('/api/changed');
  const end = (request) => {
    if (!isCounted(request)) return;
    open -= 1;
    last = Date.now();
  };
  page.on('request', (request) => {
    if (!isCounted(request)) return;
    open += 1;
    last = Date.now();
  });
  page.on('requestfinished', end);
  page.on('requestfailed', end);
  page.on('response', (response) => {
    if (response.status() >= 400 && !allowed.has(response.status())) problems.push(`status ${response.status()} of ${response.url()}`);
  });
  page.on('console', (message) => {
    if (message.type() !== 'error') return;
    const text = message.text();
    // The browser reports each answer with such a status; the allowed ones are those of `allow`.
    const status = /responded with a status of (\d+)/.exec(text)?.[1];
    if (status && allowed.has(Number(status))) return;
    if (texts.some((pattern) => pattern.test(text))) return;
    problems.push(`console: ${text.slice(0, 300)}`);
  });
  page.on('pageerror', (error) => problems.push(`error: ${error.message.slice(0, 300)}`));
  await page.addInitScript(() => {
    document.addEventListener('securitypolicyviolation', (event) => console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  });
  return {
    /** Announces a status of answers, or a pattern of console errors, that the scenario expects. */
    allow: (expected) => (expected instanceof RegExp ? texts.push(expected) : allowed.add(expected)),
    /** Waits until no request has been open for a while. */
    async settled() {
      const start = Date.now();
      while (open > 0 || Date.now() - last < QUIET_MS) {
        if (Date.now() - start > MAX_WAIT_MS) throw new Error(`${open} requests have not ended`);
        await page.waitForTimeout(50);
      }
    },
  };
}
