// The controls of a replay.

import { signal } from '@preact/signals'
import { params } from '../address.dom.ts'
import { Button, bindInput } from '../ui/frame.tsx'
import { dateTimeInputText, parseDateTimeInput } from './formats.ts'
import { bookVersion, clock, coin, replay, seekReplay, startReplay, stopReplay } from './live-page.dom.ts'
import { SPEEDS } from './market-replay.ts'
import { PanelSelect } from './panel.tsx'
import { pageNow } from './runtime.dom.ts'
import * as strings from './strings.ts'

const REPLAY_DEFAULT_MS = 10 * 60_000
const replayFrom = signal(dateTimeInputText(parseDateTimeInput(params.peek().get('replay') ?? '')))
const replaySpeed = signal(10)
const replayError = signal<string | null>(null)

/** The chosen time in Unix ms; null with an error shown. */
function replayStart(): number | null {
  const ms = replayFrom.value === '' ? clock.now(pageNow()) - REPLAY_DEFAULT_MS : parseDateTimeInput(replayFrom.value)
  const now = clock.now(pageNow())
  replayError.value = !Number.isFinite(ms) ? strings.replayNoTime : ms >= now ? strings.replayFuture : null
  return replayError.value === null ? Math.floor(ms) : null
}

export function ReplayBar() {
  void bookVersion.value
  const past = replay.value
  const play = (event: Event) => {
    event.preventDefault()
    const ms = replayStart()
    if (ms === null) return
    if (replayFrom.value === '') replayFrom.value = dateTimeInputText(ms)
    if (past && past.state !== 'over') seekReplay(past, ms)
    else startReplay(ms, replaySpeed.value)
  }
  const isRunning = past !== null && past.state !== 'over'
  return (
    <form class="replay" onSubmit={play} aria-label={strings.replayLabel}>
      <label>
        {strings.replayFrom}
        <input type="datetime-local" step="1" {...bindInput(replayFrom)} />
      </label>
      <PanelSelect
        label={strings.replaySpeed}
        value={replaySpeed.value}
        options={SPEEDS}
        text={strings.replaySpeedText}
        isDisabled={isRunning}
        onSelect={(one) => (replaySpeed.value = one)}
      />
      <button type="submit" disabled={coin.value === null}>
        {isRunning ? strings.replaySeek : strings.replayPlay}
      </button>
      {isRunning && (
        <Button
          text={past.state === 'paused' ? strings.replayResume : strings.replayPause}
          onClick={() => (past.state === 'paused' ? past.resume() : past.pause())}
        />
      )}
      {past && <Button text={strings.replayLive} class="main" onClick={stopReplay} />}
      <p class="soft" role="status">
        {past?.state === 'waiting' ? strings.replayWaiting : ''}
      </p>
      {replayError.value && (
        <p class="trouble" role="alert">
          {replayError.value}
        </p>
      )}
    </form>
  )
}
