// A trial key by e-mail: the form that asks for a link, and the page where the link leads.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Trouble } from './ask.dom.ts'
import {
  askForLink,
  type Challenge,
  challengeKey,
  type Joined,
  linksBy,
  linkToken,
  lookForSignUp,
  openLink,
  showChallenge,
} from './join.dom.ts'
import { Button, typed } from './ui/frame.tsx'
import { Curl, infoLine, TroubleNote } from './ui/parts.tsx'
import { farewell, look, signIn } from './visit.dom.ts'

function JoinForm() {
  const email = useSignal('')
  const isBusy = useSignal(false)
  const said = useSignal<string | null>(null)
  const trouble = useSignal<Trouble | null>(null)
  const hasBegun = useSignal(false)
  const solved = useSignal<string | null>(null)
  const place = useRef<HTMLDivElement>(null)
  const challenge = useRef<Challenge | null>(null)
  useEffect(() => void lookForSignUp(), [])
  useEffect(() => {
    if (challengeKey.value === null || !hasBegun.value || place.current === null) return
    const failed = (message: string) => {
      trouble.value = { status: 0, message, requestId: null }
    }
    const came = (token: string | null) => {
      solved.value = token
    }
    challenge.current = showChallenge(place.current, challengeKey.value, came, failed)
    return () => challenge.current?.remove()
  }, [challengeKey.value, hasBegun.value])
  if (linksBy.value === null) return null
  const submit = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    const answer = await askForLink(email.value, solved.value)
    challenge.current?.again()
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
          {...typed(email)}
        />
        <div ref={place} />
        <TroubleNote trouble={trouble.value} />
        <button
          type="submit"
          class="main"
          disabled={isBusy.value || (challengeKey.value !== null && solved.value === null)}
        >
          Send me a link
        </button>
      </form>
      {said.value && (
        <p class="note" role="status">
          {said.value}
          {linksBy.value === 'log' && (
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
export function JoinPage({ token }: { token: string }) {
  const isBusy = useSignal(false)
  const joined = useSignal<Joined | null>(null)
  const trouble = useSignal<Trouble | null>(null)
  const open = async () => {
    isBusy.value = true
    const answer = await openLink(token)
    isBusy.value = false
    if (!answer.ok) trouble.value = answer.error
    else if (answer.value.key === null) await leave()
    else joined.value = answer.value
  }
  if (joined.value?.key) return <FirstKey account={joined.value.account} apiKey={joined.value.key} />
  return (
    <main class="narrow" id="main">
      <h1>Your link</h1>
      <p>It opens the account of the address that it was sent to, once. Without an account there yet, it makes one.</p>
      <TroubleNote trouble={trouble.value} />
      <p class="beside">
        <Button text="Open my account" class="main" disabled={isBusy.value || trouble.value !== null} onClick={open} />
        <Button text={trouble.value === null ? 'Not now' : 'To the sign-in page'} onClick={leave} />
      </p>
    </main>
  )
}

async function leave(): Promise<void> {
  await look()
  linkToken.value = null
}

function FirstKey({ account, apiKey }: { account: string; apiKey: string }) {
  return (
    <main class="narrow" id="main">
      <h1>Your trial key</h1>
      <p>
        It belongs to the account <b>{account}</b>. Copy it now: only its hash is kept, and nobody can show it again.
        Your account can make others.
      </p>
      <Curl line={apiKey} />
      <p>To try it:</p>
      <Curl line={infoLine('{"type":"allMids"}', `'Authorization: Bearer ${apiKey}'`)} />
      <p>
        <Button text="To my account" class="main" onClick={leave} />
      </p>
    </main>
  )
}

export function SignIn() {
  const token = useSignal('')
  const isBusy = useSignal(false)
  const trouble = useSignal<Trouble | null>(null)
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
      {farewell.value && (
        <p class="note" role="status">
          {farewell.value}
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
          {...typed(token)}
        />
        <TroubleNote trouble={trouble.value} />
        <button type="submit" class="main" disabled={isBusy.value}>
          Sign in
        </button>
      </form>
      <p>
        A service key (<code>cqs_</code>) manages its account: keys, webhook, invoices. An API key (<code>cqt_</code>)
        shows what it and its account have used. It is sent once and kept by no page.
      </p>
      <JoinForm />
      {linksBy.value === null && (
        <>
          <p>No key yet? Whoever runs this gateway makes one:</p>
          <Curl line="npm run admin -- key issue <account> --kind service" />
        </>
      )}
    </main>
  )
}
