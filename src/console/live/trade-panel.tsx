// The last trades of the market, newest first.

import { clockText, compact, priceText } from './formats.ts'
import { bookTurn, played, trades } from './live-page.dom.ts'
import { Panel } from './panel.tsx'

const SHOWN = 30

export function TradePanel() {
  const past = played.value
  if (past) void bookTurn.value
  const rows = (past ? past.trades : trades.value).slice(0, SHOWN)
  return (
    <Panel name="trades" title="Trades">
      <div class="list">
        <table>
          <caption class="unseen">Last trades, newest first; times are UTC</caption>
          <thead>
            <tr>
              <th scope="col">Price</th>
              <th scope="col">Size</th>
              <th scope="col">UTC</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ id, px, sz, isBuy, time }) => (
              <tr key={id} class={isBuy ? 'bid' : 'ask'}>
                <td>
                  {priceText(px)}
                  <span class="unseen">{isBuy ? ' bought' : ' sold'}</span>
                </td>
                <td>{compact(sz)}</td>
                <td>{clockText(time)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length === 0 && <p class="foot">No trade yet.</p>}
    </Panel>
  )
}
