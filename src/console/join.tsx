// The page that a link from an e-mail opens: a sign-in, a sign-up or an invitation.

import { useSignal } from '@preact/signals'
import { INVITATION, LINK, TRIAL_KEY } from './join-strings.ts'
import { linkToken } from './link-token.dom.ts'
import type { RequestError } from './request.dom.ts'
import { refreshVisitor } from './session.dom.ts'
import { Entry } from './sign-in.tsx'
import { redeemLink, type SignUpResult } from './sign-up.dom.ts'
import { Button } from './ui/frame.tsx'
import { KeyCheck } from './ui/key-check.tsx'
import { ErrorNote, Snippet } from './ui/parts.tsx'
import { useUnloadWarning } from './ui/secret-dialog.tsx'
import { SECRET } from './ui/strings.ts'

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
  const { title, text, open: label } = token.startsWith('invite_') ? INVITATION : LINK
  return (
    <Entry title={title}>
      <p>{text}</p>
      <ErrorNote error={error.value} />
      <p class="beside">
        <Button text={label} class="main" disabled={isBusy.value || error.value !== null} onClick={open} />
        <Button text={error.value === null ? LINK.cancel : LINK.back} class="wide" onClick={returnToConsole} />
      </p>
    </Entry>
  )
}

async function returnToConsole(): Promise<void> {
  await refreshVisitor()
  linkToken.value = null
}

function TrialKey({ account, apiKey }: { account: string; apiKey: string }) {
  const isSaved = useSignal(false)
  useUnloadWarning(() => !isSaved.value)
  return (
    <Entry title={TRIAL_KEY.title} isWide>
      <p>
        {TRIAL_KEY.account}
        <b>{account}</b>
      </p>
      <p>{TRIAL_KEY.text}</p>
      <Snippet line={apiKey} isMain onCopied={() => (isSaved.value = true)} />
      <KeyCheck apiKey={apiKey} />
      <p>
        <label class="inline check">
          <input
            type="checkbox"
            checked={isSaved.value}
            onChange={(event) => (isSaved.value = event.currentTarget.checked)}
          />
          {SECRET.saved}
        </label>
      </p>
      <Button text={TRIAL_KEY.open} class="main" disabled={!isSaved.value} onClick={returnToConsole} />
    </Entry>
  )
}
