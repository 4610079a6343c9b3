// Static pages for browsers: console, live page and documentation.

const POLICY = 'content-security-policy'

export interface PagesEnv {
  readonly ASSETS?: { fetch(request: Request): Promise<Response> }
}

/** Null if there is no page at this address or the Worker has no assets. */
export async function pageOf({ ASSETS: files }: PagesEnv, request: Request): Promise<Response | null> {
  const found = await files?.fetch(request)
  return found === undefined || found.status === 404 ? null : found
}

export const isBrowser = ({ headers }: Request) => headers.get('accept')?.includes('text/html') ?? false

export const isConsole = ({ url }: Request) => new URL(url).pathname === '/console'

/** The page with a changed content security policy. */
export function withPolicy(page: Response, change: (policy: string) => string): Response {
  const changed = new Response(page.body, page)
  const policy = page.headers.get(POLICY)
  if (policy !== null) changed.headers.set(POLICY, change(policy))
  return changed
}
