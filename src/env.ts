// The variables of the gateway, parsed once per isolate. Bindings and secrets are the ambient Cloudflare.Env.

import * as z from 'zod'
import { Count, LiveSettings, readVariables, Switch } from './core/variables.ts'
import { TOKEN_COINS_MAX } from './key/stream-token.ts'
import { RpcChains } from './rpc/chains.ts'
import { parseSources } from './upstream/sources.ts'

const AccountName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be the name of an account, or empty for none')
const COINS_WORDS = `must be at most ${TOKEN_COINS_MAX} coins with commas between them, or empty for all`
const CoinList = z
  .string(COINS_WORDS)
  .regex(/^([\x21-\x2b\x2d-\x7e]{1,64}(,(?!$)|$))*$/, COINS_WORDS)
  .transform((list) => (list === '' ? null : list.split(',')))
  .refine((coins) => (coins?.length ?? 0) <= TOKEN_COINS_MAX, COINS_WORDS)

export const GatewaySettings = LiveSettings.extend({
  RELAYS_PER_REGION: Count(256),
  PATH_KEYS: Switch,
  /** Off: keys are taken without the keyed check, such as imported ones. */
  KEY_CHECK: Switch,
  METER_FAILURE: z.enum(['closed', 'open'], 'must be "closed" or "open"'),
  /** On: `cf-connecting-ip` is set by the platform or a proxy of the operator, and not by the caller. */
  TRUST_PROXY: Switch,
  /** On: events may go to plain http, for receivers on the same machine. */
  WEBHOOK_HTTP: Switch,
  /** Whose credits visitors of /live spend who are nobody's; null: there are none. */
  LIVE_ACCOUNT: z.union([z.literal(''), AccountName]).transform((account) => account || null),
  /** Coins that they are shown; null: all. */
  LIVE_COINS: CoinList,
  UPSTREAMS: z.string("must be text: JSON between three quotes, '''[…]'''").transform((text, context) => {
    const sources = parseSources(text)
    if (sources.ok) return sources.value
    context.addIssue({ code: 'custom', message: sources.error })
    return z.NEVER
  }),
  RPC_CHAINS: RpcChains,
})
export type GatewaySettings = z.infer<typeof GatewaySettings>

export function gatewaySettings(env: object): GatewaySettings {
  return readVariables(GatewaySettings, env)
}
