// Answers of the admin API in the words of the command line: whoever typed `--grace` is not told of `grace_seconds`.
// Law: one sentence that says what is wrong and what to do.

/** How fields are called here where the API has another name. */
const RENAMED: Readonly<Record<string, string>> = {
  idempotency_key: 'id',
  grace_seconds: 'grace',
  new_secret: 'new-secret',
  id: 'account',
}

/** How a key is named here. */
export const KEY_NAMED = 'the key, its first 12 characters or its hash'

/** What a command takes: names of its options, without dashes, and of its words. */
export interface Taken {
  readonly options: readonly string[]
  readonly words: readonly string[]
}

/** A refusal (`credits: must be …; label: …`) that names options and words of the command. */
export function inOptions(refusal: string, taken: Taken): string {
  return refusal
    .replaceAll(/(?<=^|; )[a-z_]+(?:\.\w+)*(?=: )/g, (path) => fieldHere(path, taken))
    .replaceAll(/\b(?:idempotency_key|grace_seconds|new_secret)\b/g, (field) => fieldHere(field, taken))
    .replaceAll(/\bnull\b/g, taken.options.includes('terms') ? 'none' : 'null')
    .replaceAll(/"(from|to)"/g, (quoted, name) => (taken.options.includes(name) ? `--${name}` : quoted))
    .replace('the SHA-256 of the key in hex, or its first 12 characters; never the key', KEY_NAMED)
    .replace('send a time in Unix milliseconds', 'say a later time in UTC; a day alone is its 00:00Z')
    .replaceAll('GET /admin/plans', '"npm run admin -- plan list"')
}

function fieldHere(path: string, { options, words }: Taken): string {
  const [field = '', part] = path.split('.')
  const name = RENAMED[field] ?? field
  if (words.includes(name)) return name.toUpperCase()
  if (options.includes(name)) return part !== undefined && name === 'terms' ? `--terms ${part}` : `--${name}`
  return options.includes('terms') && field !== 'body' ? `--terms ${field}` : path
}

/** Why nothing came: `code` is what Node calls it; `isOwn`: the gateway is that of `npm start`. */
export function unreachable(url: string, code: string, isOwn: boolean): string {
  const perhaps = 'What was asked may be done all the same: look before you ask again.'
  if (/Timeout|TIMEDOUT|TIMEOUT/.test(code)) return `${url} did not answer in time. ${perhaps}`
  if (/ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_RES/.test(code)) return `${url} broke off (${code}). ${perhaps}`
  if (/CERT|TLS|SSL|EPROTO/.test(code))
    return `TLS to ${url} fails (${code}): check --url, or have Node trust its issuer with NODE_EXTRA_CA_CERTS.`
  const advice = isOwn ? 'is "npm start" running?' : 'check --url and the network.'
  return `No gateway answers at ${url} (${code}): ${advice}`
}

/** A response: `message` is null where it is no refusal of Weir's. */
export interface Heard {
  readonly status: number
  readonly message: string | null
}

/** The gateway has no operator's API at all. */
export function isClosed({ status, message }: Heard): boolean {
  return status === 404 && message !== null && message.startsWith('This endpoint')
}

/** What a refusal says; `tokenFrom`: where the token came from. */
export function refused(url: string, heard: Heard, tokenFrom: string): string {
  const { status, message } = heard
  if (message === null) return `${url} answered ${status}, but not as a Weir gateway: check --url.`
  if (status === 401)
    return `The admin token is wrong (${tokenFrom}): it must be the ADMIN_TOKEN of that gateway, which "npm run wrangler -- secret put ADMIN_TOKEN" sets.`
  if (isClosed(heard))
    return `${url} has no /admin: its ADMIN_TOKEN is unset or shorter than 32 characters, or it is older than this command.`
  return message
}
