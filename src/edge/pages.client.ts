// The files that browsers are shown: of the console, of the live page and of the documentation.

/** Null where there is none at this address, or the Worker has none. */
export async function pageOf(
  { ASSETS: files }: Partial<Pick<Cloudflare.Env, 'ASSETS'>>,
  request: Request,
): Promise<Response | null> {
  const found = await files?.fetch(request)
  return found === undefined || found.status === 404 ? null : found
}

export const isBrowser = ({ headers }: Request) => headers.get('accept')?.includes('text/html') ?? false
