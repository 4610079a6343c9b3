// A new key, this once.

import { useEffect } from 'preact/hooks'
import { Curl } from '../ui/curl.tsx'
import { timeText } from '../ui/when.ts'
import { isShowing } from '../visit.dom.ts'
import type { Issued } from './answers.ts'
import { Dialog } from './dialog.tsx'

const curlOf = (key: string) =>
  `curl -s ${location.origin}/info -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"type":"allMids"}'`

export function KeyShown({ issued, onClose }: { issued: Issued; onClose: () => void }) {
  const { key, prefix, label, warnings = [], old_key_ends: ends } = issued
  // It may have replaced the one that was signed in with.
  useEffect(() => {
    isShowing.value = true
    return () => {
      isShowing.value = false
    }
  }, [])
  return (
    <Dialog title={key ? 'The key, this once' : 'Made before'} onClose={onClose}>
      {key ? (
        <>
          <p>Copy it now: only its hash is kept, and nobody can show it again.</p>
          <Curl line={key} />
          {key.startsWith('cqt_') && (
            <>
              <p>To try it, in a terminal; the call is on this page some seconds later:</p>
              <Curl line={curlOf(key)} />
            </>
          )}
        </>
      ) : (
        <p>
          An earlier click made <code>{prefix}…</code> {label}; its answer was lost, and it is not shown again. Rotate
          it, or revoke it and make another.
        </p>
      )}
      {ends !== undefined && <p>The old key ends {timeText(ends)} UTC.</p>}
      {warnings.map((text) => (
        <p class="note trouble" key={text}>
          {text}
        </p>
      ))}
    </Dialog>
  )
}
