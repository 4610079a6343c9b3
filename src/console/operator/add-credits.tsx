// Grants credits beyond plans to an account.

import { useSignal } from '@preact/signals'
import { request } from '../request.dom.ts'
import type { Responses } from '../responses.ts'
import { Dialog, Field } from '../ui/dialog.tsx'
import { groupedText } from '../ui/format.ts'
import { Button } from '../ui/frame.tsx'
import * as strings from './strings.ts'

interface AddCreditsProps {
  /** Default: any, which is asked for. */
  readonly account?: string
  /** Gets what was done, in words. */
  readonly onDone: (text: string) => void
}

/** A button with its dialog. */
export function AddCredits(props: AddCreditsProps) {
  const isOpen = useSignal(false)
  const close = () => {
    isOpen.value = false
  }
  return (
    <>
      <Button text={strings.accountTopUp} class="main" onClick={() => (isOpen.value = true)} />
      {isOpen.value && <AddCreditsDialog {...props} onClose={close} />}
    </>
  )
}

/** The reference is the idempotency key, so a second click grants nothing extra. */
function AddCreditsDialog({ account, onDone, onClose }: AddCreditsProps & { readonly onClose: () => void }) {
  const id = useSignal(account ?? '')
  const credits = useSignal('')
  const reference = useSignal('')
  const send = async () => {
    const path = `/admin/accounts/${encodeURIComponent(id.value.trim())}/grants`
    const body = { credits: credits.value.replaceAll(/[ ,]/g, ''), idempotency_key: reference.value.trim() }
    const result = await request<Responses['grantCredits']>('POST', path, body)
    if (!result.ok) {
      return { ...result.error, message: result.error.message.replace('idempotency_key', 'reference') }
    }
    const { repeated, balance } = result.value
    onDone(
      repeated
        ? strings.accountTopUpRepeated(body.idempotency_key)
        : strings.accountTopUpDone(groupedText(body.credits), groupedText(balance)),
    )
    onClose()
    return null
  }
  return (
    <Dialog
      title={strings.accountTopUp}
      submitLabel={strings.accountTopUpSubmit}
      isIncomplete={[id, credits, reference].some(({ value }) => value.trim() === '')}
      onSend={send}
      onClose={onClose}
    >
      {account === undefined && (
        <Field label={strings.commonAccount} value={id.value} onText={(text) => (id.value = text)} />
      )}
      <Field
        label={strings.accountTopUpCredits}
        hint={strings.accountTopUpCreditsRule}
        value={credits.value}
        onText={(text) => (credits.value = text)}
      />
      <Field
        label={strings.accountTopUpName}
        hint={strings.accountTopUpNameRule}
        value={reference.value}
        onText={(text) => (reference.value = text)}
      />
    </Dialog>
  )
}
