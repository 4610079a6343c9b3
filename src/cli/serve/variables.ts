// The variables of the Workers under `weir serve`: defaults of the wrangler files, then weir.toml, then the environment. This
// file is pure.

import type * as z from 'zod'
import { ArchiveSettings } from '../../archive/archive/archive-settings.ts'
import { PayerSettings } from '../../billing/x402/settings.ts'
import { parseWith } from '../../core/validation-errors.ts'
import { GatewaySettings, missingDependencies } from '../../http/gateway-settings.ts'
import { RequestLogSettings } from '../../metering/request-log/log-settings.ts'
import { AlertSettings } from '../../monitor/alert-settings.ts'
import { SinkSettings } from '../../pipelines/sink/sink-settings.ts'

/** All variables of the live and the jobs Worker. */
const OBJECT_SETTINGS = AlertSettings.extend(PayerSettings.shape)
  .extend(RequestLogSettings.shape)
  .extend(ArchiveSettings.shape)
  .extend(SinkSettings.shape)

/** Secrets that some settings need, on top of those that sources and nodes name. */
export const OPTIONAL_SECRETS = [
  'METRICS_TOKEN',
  'ALERT_SECRET',
  'X402_FACILITATOR_TOKEN',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
  'SIGNUP_MAILER_TOKEN',
  'SIGNUP_TURNSTILE_SECRET',
] as const

type Variables = Readonly<Record<string, string>>

/** Without Cloudflare in front, callers could set the header that names their address. */
const SERVE_DEFAULTS: Variables = { TRUST_PROXY: 'off' }

/**
 * The values of `declared` that differ from the defaults. `node`: URL of an exchange node that answers info types and `/evm`,
 * which is used unless UPSTREAMS or RPC_CHAINS are set.
 */
export function servedVariables(
  declared: readonly string[],
  sources: { readonly settings: Variables; readonly env: Readonly<Record<string, string | undefined>> },
  nodes: readonly string[],
): Variables {
  const isDeclared = (name: string) => declared.includes(name)
  const fromEnvironment = declared.flatMap((name) => (sources.env[name] ? [[name, sources.env[name]] as const] : []))
  return Object.fromEntries([
    ...Object.entries({ ...SERVE_DEFAULTS, ...nodeVariables(nodes), ...sources.settings }).filter(([name]) =>
      isDeclared(name),
    ),
    ...fromEnvironment,
  ])
}

function nodeVariables(nodes: readonly string[]): Variables {
  if (nodes.length === 0) return {}
  const urls = nodes.map((node) => node.replace(/\/+(?:info\/?)?$/, ''))
  return {
    UPSTREAMS: JSON.stringify(
      urls.map((url, at) => ({ name: at === 0 ? 'node' : `node-${at + 1}`, url: `${url}/info` })),
    ),
    RPC_CHAINS: JSON.stringify([{ name: 'hyperliquid', urls: urls.map((url) => `${url}/evm`) }]),
  }
}

/** Why a Worker would not start with these variables: one line for each fault. */
export function variableFaults(gateway: Variables, objects: Variables): string[] {
  const settings = GatewaySettings.safeParse(gateway)
  const missing = settings.success ? missingDependencies(settings.data).map((fault) => `${fault}.`) : []
  return [...new Set([...faultsOf(GatewaySettings, gateway), ...faultsOf(OBJECT_SETTINGS, objects), ...missing])]
}

function faultsOf(schema: z.ZodObject, variables: Variables): string[] {
  const parsed = parseWith(schema, variables)
  if (parsed.ok) return []
  return parsed.error.map(({ path, message }) => `${message.startsWith(`${path} `) ? '' : `${path} `}${message}.`)
}
