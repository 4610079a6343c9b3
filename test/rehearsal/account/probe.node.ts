// The probe of `npm run rehearse -- --account` in workerd, as a stand-in for an account.

import { convertV4MiniflareOptions, Miniflare, Response } from 'miniflare'
import { unstable_readConfig } from 'wrangler'

export async function startProbe(script: string, bindings: Readonly<Record<string, string>>) {
  const { compatibility_date: compatibilityDate = '' } = unstable_readConfig({ config: 'wrangler.toml' })
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script,
      compatibilityDate,
      bindings,
      durableObjects: { PROBE: { className: 'Probe', useSQLite: true } },
      kvNamespaces: ['KEYS'],
      d1Databases: ['ACCOUNTS'],
      r2Buckets: ['ARCHIVE'],
      outboundService: () => new Response('fl=1\ncolo=TST\n'),
      cf: false,
      telemetry: { enabled: false },
    }),
  )
  return { url: (await miniflare.ready).origin, dispose: () => miniflare.dispose() }
}
