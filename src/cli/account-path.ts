// Where an account stands in the admin API.

/** Its path, whatever was typed for its id. */
export function accountPath(account: string): string {
  return `/admin/accounts/${encodeURIComponent(account)}`
}
