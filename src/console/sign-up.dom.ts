// Signing up by e-mail: whether this gateway has it, and the link that was opened. Law: the token leaves the address as soon
// as it is read, and is sent when the visitor says so, not when a page is opened: programs open links, too.

import { signal } from '@preact/signals'
import { type RequestResult, request } from './request.dom.ts'

/** How links come; null: there is no sign-up here. */
export const linkDelivery = signal<'log' | 'mail' | null>(null)
/** Of the Turnstile widget that is shown to whoever asks for a link; null: none is. */
export const turnstileSiteKey = signal<string | null>(null)
export const linkToken = signal(tokenIn(location.hash))
if (linkToken.value !== null) history.replaceState(null, '', location.pathname + location.search)
// A link that is opened where the console is open already loads nothing anew.
addEventListener('hashchange', () => {
  const token = tokenIn(location.hash)
  if (token === null) return
  history.replaceState(null, '', location.pathname + location.search)
  linkToken.value = token
})

function tokenIn(hash: string): string | null {
  return /^#join=(.+)$/.exec(hash)?.[1] ?? null
}

/** What a link opened; `key` this once, null where it was shown before. */
export interface SignUpResult {
  readonly account: string
  readonly key: string | null
}

export async function loadSignUpSettings(): Promise<void> {
  const answer = await request<{ by: 'log' | 'mail' | null; turnstile: string | null }>('GET', '/signup')
  if (!answer.ok) return
  linkDelivery.value = answer.value.by
  turnstileSiteKey.value = answer.value.turnstile
}

/** `challenge`: the token of a solved one, null where none is asked for. */
export const requestLink = (email: string, challenge: string | null) =>
  request<{ message: string }>('POST', '/signup', { email, ...(challenge !== null && { challenge }) })

export const redeemLink = (token: string): Promise<RequestResult<SignUpResult>> =>
  request<SignUpResult>('POST', '/signup/confirm', { token })

interface Turnstile {
  render(element: HTMLElement, options: object): string
  reset(id: string): void
  remove(id: string): void
}

const TURNSTILE_SCRIPT = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'
const TURNSTILE_ACTION = 'sign-up'

let loading: Promise<Turnstile> | null = null

function loadTurnstile(): Promise<Turnstile> {
  loading ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src: TURNSTILE_SCRIPT, async: true })
    script.onload = () => resolve((globalThis as unknown as { turnstile: Turnstile }).turnstile)
    script.onerror = () => {
      loading = null
      script.remove()
      reject(new Error('The check that you are no robot could not be loaded. Allow challenges.cloudflare.com.'))
    }
    document.head.append(script)
  })
  return loading
}

export interface Challenge {
  /** A token is good for one request. */
  reset(): void
  remove(): void
}

/** `solved`: a token, or null once it is used or too old. */
export function showChallenge(
  element: HTMLElement,
  siteKey: string,
  onToken: (token: string | null) => void,
  onError: (why: string) => void,
): Challenge {
  let widget: { readonly of: Turnstile; readonly id: string } | null = null
  let isGone = false
  loadTurnstile().then(
    (of) => {
      if (isGone) return
      const gone = () => onToken(null)
      const options = { sitekey: siteKey, action: TURNSTILE_ACTION, 'response-field': false, callback: onToken }
      const id = of.render(element, { ...options, 'expired-callback': gone, 'error-callback': gone })
      widget = { of, id }
    },
    (error: Error) => onError(error.message),
  )
  return {
    reset() {
      onToken(null)
      widget?.of.reset(widget.id)
    },
    remove() {
      isGone = true
      widget?.of.remove(widget.id)
    },
  }
}
