// A trial key by e-mail: the form that asks for a link, and the page where the link leads.

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
import { Button, bindInput } from './ui/frame.tsx'
import { ErrorNote, infoCurl, Snippet } from './ui/parts.tsx'

function SignUpForm() {
  const email = useSignal('')
  const isBusy = useSignal(false)
  const said = useSignal<string | null>(null)
  const trouble = useSignal<RequestError | null>(null)
  const hasBegun = useSignal(false)
  const solved = useSignal<string | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const challenge = useRef<Challenge | null>(null)
  useEffect(() => void loadSignUpSettings(), [])
  useEffect(() => {
    if (turnstileSiteKey.value === null || !hasBegun.value || place.current === null) return
    const failed = (message: string) => {
      trouble.value = { status: 0, message, requestId: null }
    }
    const came = (token: string | null) => {
      solved.value = token
    }
    challenge.current = showChallenge(place.current, turnstileSiteKey.value, came, failed)
    return () => challenge.current?.remove()
  }, [turnstileSiteKey.value, hasBegun.value])
  if (linkDelivery.value === null) return null
  const submit = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    const answer = await requestLink(email.value, solved.value)
    challenge.current?.reset()
    isBusy.value = false
    trouble.value = answer.ok ? null : answer.error
    said.value = answer.ok ? answer.value.message : null
  }
  return (
    <section>
      <h2>Get a trial key by e-mail</h2>
      <form onSubmit={submit}>
        <label for="email">Your e-mail address: it gets a link that opens your account, also when you come back</label>
        <input
          id="email"
          type="email"
          autocomplete="email"
          required
          maxLength={254}
          onFocus={() => {
            hasBegun.value = true
          }}
          {...bindInput(email)}
        />
        <div ref={place} />
        <ErrorNote trouble={trouble.value} />
        <button
          type="submit"
          class="main"
          disabled={isBusy.value || (turnstileSiteKey.value !== null && solved.value === null)}
        >
          Send me a link
        </button>
      </form>
      {said.value && (
        <p class="note" role="status">
          {said.value}
          {linkDelivery.value === 'log' && (
            <>
              {' '}
              This gateway sends no mail: the link is the last line with <code>sign-up:</code> of its log, under{' '}
              <code>npm start</code> in <code>.weir/log/gateway.log</code>.
            </>
          )}
        </p>
      )}
    </section>
  )
}

/** Where a link leads: nothing happens before the visitor says so. */
export function ConfirmLinkPage({ token }: { token: string }) {
  const isBusy = useSignal(false)
  const joined = useSignal<SignUpResult | null>(null)
  const trouble = useSignal<RequestError | null>(null)
  const open = async () => {
    isBusy.value = true
    const answer = await redeemLink(token)
    isBusy.value = false
    if (!answer.ok) trouble.value = answer.error
    else if (answer.value.key === null) await returnToConsole()
    else joined.value = answer.value
  }
  if (joined.value?.key) return <TrialKey account={joined.value.account} apiKey={joined.value.key} />
  return (
    <main class="narrow" id="main">
      <h1>Your link</h1>
      <p>It opens the account of the address that it was sent to, once. Without an account there yet, it makes one.</p>
      <ErrorNote trouble={trouble.value} />
      <p class="beside">
        <Button text="Open my account" class="main" disabled={isBusy.value || trouble.value !== null} onClick={open} />
        <Button text={trouble.value === null ? 'Not now' : 'To the sign-in page'} onClick={returnToConsole} />
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
      <h1>Your trial key</h1>
      <p>
        It belongs to the account <b>{account}</b>. Copy it now: only its hash is kept, and nobody can show it again.
        Your account can make others.
      </p>
      <Snippet line={apiKey} />
      <p>To try it:</p>
      <Snippet line={infoCurl('{"type":"allMids"}', `'Authorization: Bearer ${apiKey}'`)} />
      <p>
        <Button text="To my account" class="main" onClick={returnToConsole} />
      </p>
    </main>
  )
}

export function SignInPage() {
  const token = useSignal('')
  const isBusy = useSignal(false)
  const trouble = useSignal<RequestError | null>(null)
  const submit = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    const answer = await signIn(token.value)
    isBusy.value = false
    token.value = ''
    trouble.value = answer.ok ? null : answer.error
  }
  return (
    <main class="narrow" id="main">
      <h1>Sign in</h1>
      {sessionNotice.value && (
        <p class="note" role="status">
          {sessionNotice.value}
        </p>
      )}
      <form onSubmit={submit}>
        <label for="token">A key of your account, or an operator’s token</label>
        <input
          id="token"
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          maxLength={256}
          {...bindInput(token)}
        />
        <ErrorNote trouble={trouble.value} />
        <button type="submit" class="main" disabled={isBusy.value}>
          Sign in
        </button>
      </form>
      <p>
        A service key (<code>cqs_</code>) manages its account: keys, webhook, invoices. An API key (<code>cqt_</code>)
        shows what it and its account have used. It is sent once and kept by no page.
      </p>
      <SignUpForm />
      {linkDelivery.value === null && (
        <>
          <p>No key yet? Whoever runs this gateway makes one:</p>
          <Snippet line="npm run admin -- key issue <account> --kind service" />
        </>
      )}
    </main>
  )
}
