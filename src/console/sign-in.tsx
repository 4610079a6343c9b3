// A key or an operator's token becomes a session.

import { useSignal } from '@preact/signals'
import type { Trouble } from './ask.dom.ts'
import { linksBy } from './join.dom.ts'
import { JoinForm } from './join.tsx'
import { typed } from './ui/frame.tsx'
import { Curl, TroubleNote } from './ui/parts.tsx'
import { farewell, signIn } from './visit.dom.ts'

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
