// Preloaded by programs under test: their requests to workers.dev go to the stand-in for Cloudflare (cloudflare.ts).

import { env } from 'node:process'

const { STAND_IN_URL = '' } = env
const original = globalThis.fetch

const redirected: typeof fetch = (input, init) => {
  const url = input instanceof Request ? input.url : String(input)
  const at = url.replace(/^https:\/\/([\w-]+)\.me\.workers\.dev/, `${STAND_IN_URL}/workers.dev/$1`)
  return original(at === url ? input : at, init)
}

globalThis.fetch = redirected
