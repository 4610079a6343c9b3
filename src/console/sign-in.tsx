// Sign-in with a key or token, sign-up by e-mail, and the page that a sign-up link opens.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { RequestError } from './request.dom.ts'
import { refreshVisitor, sessionNotice, signIn } from './session.dom.ts'
import {
  type Challenge,
  linkDelivery,
  linkToken,
  loadSignUpSettings,
  redeemLink,
  requestLink,
  type SignUpResult,
  showChallenge,
  turnstileSiteKey,
} from './sign-up.dom.ts'
import { LINK, SIGN_IN, SIGN_UP, TRIAL_KEY } from './strings.ts'
import { Button, bindInput } from './ui/frame.tsx'
import { ErrorNote, infoCurl, Snippet } from './ui/parts.tsx'

function SignUpForm() {
  const email = useSignal('')
  const isBusy = useSignal(false)
  const notice = useSignal<string | null>(null)
  const error = useSignal<RequestError | null>(null)
  const isTouched = useSignal(false)
  const challengeToken = useSignal<string | null>(null)
  const widget = useRef<HTMLDivElement>(null)
  const challenge = useRef<Challenge | null>(null)
  useEffect(() => void loadSignUpSettings(), [])
  useEffect(() => {
    if (turnstileSiteKey.value === null || !isTouched.value || widget.current === null) return
    const onError = (message: string) => {
      error.value = { status: 0, message, requestId: null }
    }
    const onToken = (token: string | null) => {
      challengeToken.value = token
    }
    challenge.current = showChallenge(widget.current, turnstileSiteKey.value, onToken, onError)
    return () => challenge.current?.remove()
  }, [turnstileSiteKey.value, isTouched.value])
  if (linkDelivery.value === null) return null
  const submit = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    const result = await requestLink(email.value, challengeToken.value)
    challenge.current?.reset()
    isBusy.value = false
    error.value = result.ok ? null : result.error
    notice.value = result.ok ? result.value.message : null
  }
  return (
    <section>
      <h2>{SIGN_UP.title}</h2>
      <form onSubmit={submit}>
        <label for="email">{SIGN_UP.email}</label>
        <input
          id="email"
          type="email"
          autocomplete="email"
          required
          maxLength={254}
          onFocus={() => {
            isTouched.value = true
          }}
          {...bindInput(email)}
        />
        <div ref={widget} />
        <ErrorNote error={error.value} />
        <button
          type="submit"
          class="main"
          disabled={isBusy.value || (turnstileSiteKey.value !== null && challengeToken.value === null)}
        >
          {SIGN_UP.submit}
        </button>
      </form>
      {notice.value && (
        <p class="note" role="status">
          {notice.value}
          {linkDelivery.value === 'log' && (
            <>
              {SIGN_UP.logged}
              <code>sign-up:</code>
              {SIGN_UP.logFile}
              <code>npm start</code>
              {SIGN_UP.logFileIn}
              <code>.weir/log/gateway.log</code>.
            </>
          )}
        </p>
      )}
    </section>
  )
}

/** Redeems the link only after the visitor confirms. */
export function ConfirmLinkPage({ token }: { token: string }) {
  const isBusy = useSignal(false)
  const joined = useSignal<SignUpResult | null>(null)
  const error = useSignal<RequestError | null>(null)
  const open = async () => {
    isBusy.value = true
    const result = await redeemLink(token)
    isBusy.value = false
    if (!result.ok) error.value = result.error
    else if (result.value.key === null) await returnToConsole()
    else joined.value = result.value
  }
  if (joined.value?.key) return <TrialKey account={joined.value.account} apiKey={joined.value.key} />
  return (
    <main class="narrow" id="main">
      <h1>{LINK.title}</h1>
      <p>{LINK.text}</p>
      <ErrorNote error={error.value} />
      <p class="beside">
        <Button text={LINK.open} class="main" disabled={isBusy.value || error.value !== null} onClick={open} />
        <Button text={error.value === null ? LINK.cancel : LINK.back} onClick={returnToConsole} />
      </p>
    </main>
  )
}

async function returnToConsole(): Promise<void> {
  await refreshVisitor()
  linkToken.value = null
}

function TrialKey({ account, apiKey }: { account: string; apiKey: string }) {
  return (
    <main class="narrow" id="main">
      <h1>{TRIAL_KEY.title}</h1>
      <p>
        {TRIAL_KEY.account}
        <b>{account}</b>
      </p>
      <p>{TRIAL_KEY.text}</p>
      <Snippet line={apiKey} />
      <p>{TRIAL_KEY.test}</p>
      <Snippet line={infoCurl('{"type":"allMids"}', `'Authorization: Bearer ${apiKey}'`)} />
      <p>
        <Button text={TRIAL_KEY.open} class="main" onClick={returnToConsole} />
      </p>
    </main>
  )
}

export function SignInPage() {
  const token = useSignal('')
  const isBusy = useSignal(false)
  const error = useSignal<RequestError | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    const result = await signIn(token.value)
    isBusy.value = false
    token.value = ''
    error.value = result.ok ? null : result.error
  }
  return (
    <main class="narrow" id="main">
      <h1>{SIGN_IN.title}</h1>
      {sessionNotice.value && (
        <p class="note" role="status">
          {sessionNotice.value}
        </p>
      )}
      <form onSubmit={submit}>
        <label for="token">{SIGN_IN.key}</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          maxLength={256}
          {...bindInput(token)}
        />
        <ErrorNote error={error.value} />
        <button type="submit" class="main" disabled={isBusy.value}>
          {SIGN_IN.submit}
        </button>
      </form>
      <p>{SIGN_IN.help}</p>
      <SignUpForm />
      {linkDelivery.value === null && (
        <>
          <p>{SIGN_IN.noKey}</p>
          <Snippet line="npm run admin -- key issue <account> --kind service" />
        </>
      )}
    </main>
  )
}
