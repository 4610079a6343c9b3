// `--terms credits=5000,requests_per_second=none`: what a plan gives or an account was promised, as the commands take it.
// Names and values are the admin API's to judge; here is only their form.

import { err, ok, type Result } from '../core/result.ts'

/** What follows `--terms`, for the usage text. */
export const TERMS_USAGE = `TERMS: credits=N,period=month|once,days=N|none,requests_per_second=N|none,
                               info_requests_per_second=N,stream_connections=N,stream_subscriptions=N,
                               stream_messages_per_minute=N,custom=true|false; any of them
                               (an account's: credits and limits)`

/** The fields as the admin API takes them; credits stay text, so that no digit is lost. */
export function parseTerms(text: string): Result<Record<string, unknown>, string> {
  const terms: Record<string, unknown> = {}
  for (const pair of text.split(',')) {
    const [, name, value] = /^([a-z_]+)=(\S+)$/.exec(pair.trim()) ?? []
    if (name === undefined || value === undefined) return err('--terms: must be like credits=5000,days=none')
    terms[name] = name === 'credits' ? value : readValue(value)
  }
  return ok(terms)
}

function readValue(text: string): unknown {
  if (text === 'none') return null
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
