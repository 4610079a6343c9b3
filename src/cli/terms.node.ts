// `--terms credits=5000,info_requests_per_second=20`: what a plan gives or an account was promised, as the commands take
// it. Names and values are the admin API's to judge; here is only their form.

import { err, ok, type Result } from '../core/result.ts'

/** What follows `--terms`, for the usage text. */
export const TERMS_USAGE = `TERMS: any of these with commas between; an account's are credits and limits
    credits=N                          a period
    period=month|once                  a plan's: whether they come again
    days=N|none                        a plan's: when those of the period "once" end
    info_requests_per_second=N         of each key, to POST /info
    rest_requests_per_second=N|none    of each key, to /platform; not to POST /info
    stream_connections=N               sockets of an account, at a time
    stream_subscriptions=N             of an account, at a time
    stream_messages_per_minute=N       frames that each socket may send
    custom=true|false                  a plan's: whether terms may be agreed per account`

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
