// A command to copy.

import { useSignal } from '@preact/signals'

export function Curl({ line }: { line: string }) {
  const isCopied = useSignal(false)
  const copy = async () => {
    // A page without a secure connection has no clipboard: the line can be marked.
    await navigator.clipboard?.writeText(line).catch(() => {})
    isCopied.value = Boolean(navigator.clipboard)
  }
  return (
    <div class="curl">
      <code>{line}</code>
      <button type="button" class="plain" onClick={copy}>
        {isCopied.value ? 'Copied' : 'Copy'}
      </button>
    </div>
  )
}
