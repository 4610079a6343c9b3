// HMACs of e-mail addresses and networks, so that tables show no address. Invariant: an address has the same HMAC in
// every table.

import { hmac } from '../../core/signature.client.ts'

const PURPOSE = 'weir/sign-up-addresses/1'
const utf8 = (text: string) => new Uint8Array(new TextEncoder().encode(text))

/** HMAC with a key derived for this purpose only. */
export async function addressHash(keySecret: string, text: string): Promise<string> {
  return hmac(utf8(await hmac(utf8(keySecret), PURPOSE)), text)
}
