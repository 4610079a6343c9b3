// Replacing a key by a new one; both work for a while.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ask } from '../ask.dom.ts'
import { Choice } from '../ui/choice.tsx'
import type { Issued, Key } from './answers.ts'
import { Dialog } from './dialog.tsx'

interface RotateProps {
  readonly of: Key
  readonly onDone: (issued: Issued | null) => void
  readonly onClose: () => void
}

export function RotateForm({ of, onDone, onClose }: RotateProps) {
  const grace = useSignal('86400')
  const request = useRef(crypto.getRandomValues(new Uint32Array(4)).join('-'))
  const send = async () => {
    const order = { grace_seconds: Number(grace.value), idempotency_key: request.current }
    const answer = await ask<Issued>('POST', `/platform/keys/${of.hash}/rotate`, order)
    if (!answer.ok) return answer.error
    onDone(answer.value)
    return null
  }
  return (
    <Dialog title={`Rotate ${of.prefix}… ${of.label}`} act="Rotate" onSend={send} onClose={onClose}>
      <p>
        The new key has the same label, products, ranges and end, and shares the cap and what was spent under it. A key
        is replaced once.
      </p>
      <Choice
        label="The old key works for"
        value={grace.value}
        options={[
          ['0', 'no longer'],
          ['3600', 'an hour'],
          ['86400', 'a day'],
          ['604800', 'a week'],
          ['2592000', '30 days'],
        ]}
        onChoose={(seconds) => {
          grace.value = seconds
        }}
      />
    </Dialog>
  )
}
