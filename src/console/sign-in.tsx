// Sign-in and sign-up by e-mail, and sign-in with a key or token.

import { useSignal } from '@preact/signals'
import { type ComponentChildren, h } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { RequestError } from './request.dom.ts'
import { sessionNotice, signIn } from './session.dom.ts'
import { SIGN_IN, SIGN_UP } from './sign-in-strings.ts'
import {
  type Challenge,
  linkDelivery,
  loadSignUpSettings,
  requestLink,
  showChallenge,
  turnstileSiteKey,
} from './sign-up.dom.ts'
import { CONSOLE } from './strings.ts'
import { bindInput } from './ui/frame.tsx'
import { FRAME } from './ui/frame-strings.ts'
import { Mark } from './ui/icon.tsx'
import { ErrorNote, Snippet } from './ui/parts.tsx'

interface EntryProps {
  /** Also the title of the document. */
  readonly title: string
  readonly isWide?: boolean
  readonly children: ComponentChildren
}

/** The frame of the pages before the console. */
export function Entry({ title, isWide = false, children }: EntryProps) {
  useEffect(() => {
    document.title = `${title} · ${CONSOLE.product}`
  }, [title])
  return (
    <div class="entry">
      <header class="brand">
        <Mark />
        {CONSOLE.product}
      </header>
      <main id="main" class={isWide ? 'wide' : ''}>
        <h1>{title}</h1>
        {children}
      </main>
      <footer>
        {(['/docs', '/status', '/live'] as const).map((path) => (
          <a key={path} href={path}>
            {FRAME.links[path]}
          </a>
        ))}
        {h('theme-switch', null)}
        {h('legal-links', null)}
      </footer>
    </div>
  )
}

function SignUpForm() {
  const email = useSignal('')
  const isBusy = useSignal(false)
  const notice = useSignal<string | null>(null)
  const error = useSignal<RequestError | null>(null)
  const isTouched = useSignal(false)
  const challengeToken = useSignal<string | null>(null)
  const widget = useRef<HTMLDivElement>(null)
  const challenge = useRef<Challenge | null>(null)
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
  const input = useAutofocus()
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
      <p class="soft">{SIGN_UP.text}</p>
      <form onSubmit={submit}>
        <label for="email">{SIGN_UP.email}</label>
        <input
          id="email"
          ref={input}
          aria-describedby="email-hint"
          type="email"
          autocomplete="email"
          required
          maxLength={254}
          onFocus={() => {
            isTouched.value = true
          }}
          {...bindInput(email)}
        />
        <small id="email-hint" class="soft">
          {SIGN_UP.emailHint}
        </small>
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
              <code>sign_up_link</code>
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

/** Focuses the input when it appears. */
function useAutofocus() {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => input.current?.focus(), [])
  return input
}

export function SignInPage() {
  useEffect(() => void loadSignUpSettings(), [])
  const delivery = linkDelivery.value
  return (
    <Entry title={SIGN_IN.title}>
      {sessionNotice.value && (
        <p class="note" role="status">
          {sessionNotice.value}
        </p>
      )}
      {delivery !== 'unknown' && (
        <>
          {delivery !== null && <SignUpForm />}
          <KeyForm isFirst={delivery === null} />
        </>
      )}
    </Entry>
  )
}

function KeyForm({ isFirst }: { readonly isFirst: boolean }) {
  const token = useSignal('')
  const isBusy = useSignal(false)
  const error = useSignal<RequestError | null>(null)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (isFirst) input.current?.focus()
  }, [])
  const submit = async (event: Event) => {
    event.preventDefault()
    isBusy.value = true
    const result = await signIn(token.value)
    isBusy.value = false
    error.value = result.ok ? null : result.error
    if (!result.ok) input.current?.select()
  }
  return (
    <section>
      {!isFirst && <h2>{SIGN_IN.keyTitle}</h2>}
      <form onSubmit={submit}>
        <label for="token">{SIGN_IN.key}</label>
        <input
          id="token"
          ref={input}
          type="password"
          autocomplete="current-password"
          spellcheck={false}
          required
          maxLength={256}
          {...bindInput(token)}
        />
        <ErrorNote error={error.value} />
        <button type="submit" class={isFirst ? 'main' : 'wide'} disabled={isBusy.value}>
          {SIGN_IN.submit}
        </button>
      </form>
      <p class="soft">{SIGN_IN.help}</p>
      {isFirst && (
        <>
          <p>{SIGN_IN.noKey}</p>
          <Snippet line="npx weir admin key issue <account> --kind service" />
        </>
      )}
    </section>
  )
}
