// Sign-up by e-mail. Invariant: the token of a link is sent only when the visitor confirms, because mail scanners open links
// too.

import { signal } from '@preact/signals'
import { type RequestResult, request } from './request.dom.ts'
import { SIGN_UP } from './sign-in-strings.ts'

/** How links are delivered; null if this gateway has no sign-up. */
export const linkDelivery = signal<'log' | 'mail' | null | 'unknown'>('unknown')
/** Null if no Turnstile check is required. */
export const turnstileSiteKey = signal<string | null>(null)

/** `key` is present once; null if it was already shown. */
export interface SignUpResult {
  readonly account: string
  readonly key: string | null
}

export async function loadSignUpSettings(): Promise<void> {
  const result = await request<{ by: 'log' | 'mail' | null; turnstile: string | null }>('GET', '/signup')
  linkDelivery.value = result.ok ? result.value.by : null
  turnstileSiteKey.value = result.ok ? result.value.turnstile : null
}

/** `challenge`: the Turnstile token, or null if none is required. */
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
      reject(new Error(SIGN_UP.turnstile))
    }
    document.head.append(script)
  })
  return loading
}

export interface Challenge {
  /** Requests a new token, because each token works only once. */
  reset(): void
  remove(): void
}

/** `onToken` receives null when the token is used or has expired. */
export function showChallenge(
  element: HTMLElement,
  siteKey: string,
  onToken: (token: string | null) => void,
  onError: (why: string) => void,
): Challenge {
  let widget: { readonly of: Turnstile; readonly id: string } | null = null
  let isRemoved = false
  loadTurnstile().then(
    (of) => {
      if (isRemoved) return
      const clear = () => onToken(null)
      const options = { sitekey: siteKey, action: TURNSTILE_ACTION, 'response-field': false, callback: onToken }
      const id = of.render(element, { ...options, 'expired-callback': clear, 'error-callback': clear })
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
      isRemoved = true
      widget?.of.remove(widget.id)
    },
  }
}
