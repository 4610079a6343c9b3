// Where an account stands in the admin API.

/** Its path, whatever was typed for its id. */
export function accountPath(account: string): string {
  return `/admin/accounts/${encodeURIComponent(account)}`
}

/** The id in such a path, or in one below it. */
export function accountIn(path: string): string | undefined {
  const id = /^\/admin\/accounts\/([^/?]+)/.exec(path)?.[1]
  return id === undefined ? undefined : decodeURIComponent(id)
}
