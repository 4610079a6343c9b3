// The challenge of Cloudflare Turnstile on the sign-up form, where this gateway asks for one. Invariant: its script is
// loaded when somebody begins to sign up, and for nobody else.

interface Turnstile {
  render(element: HTMLElement, options: object): string
  reset(id: string): void
  remove(id: string): void
}

const SCRIPT = 'https://challenges.cloudflare.com/turnstile/v0/api.js?render=explicit'
/** The gateway takes no token for anything else. */
const ACTION = 'sign-up'

let loading: Promise<Turnstile> | null = null

function load(): Promise<Turnstile> {
  loading ??= new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement('script'), { src: SCRIPT, async: true })
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
  again(): void
  remove(): void
}

/** `solved`: a token, or null once it is used or too old. */
export function showChallenge(
  element: HTMLElement,
  siteKey: string,
  solved: (token: string | null) => void,
  failed: (why: string) => void,
): Challenge {
  let widget: { readonly of: Turnstile; readonly id: string } | null = null
  let isGone = false
  load().then(
    (of) => {
      if (isGone) return
      const gone = () => solved(null)
      const options = { sitekey: siteKey, action: ACTION, 'response-field': false, callback: solved }
      const id = of.render(element, { ...options, 'expired-callback': gone, 'error-callback': gone })
      widget = { of, id }
    },
    (error: Error) => failed(error.message),
  )
  return {
    again() {
      solved(null)
      widget?.of.reset(widget.id)
    },
    remove() {
      isGone = true
      widget?.of.remove(widget.id)
    },
  }
}
