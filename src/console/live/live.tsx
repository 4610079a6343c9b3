// The page /live.

import { effect } from '@preact/signals'
import { render } from 'preact'
import { refreshVisitor, visitor } from '../session.dom.ts'
import { Header } from '../ui/frame.tsx'
import { BookPanel, DepthPanel, TradePanel } from './book-panel.tsx'
import { ChartPanel } from './chart-panel.tsx'
import { coin, start } from './live-page.dom.ts'
import { MarketList } from './market-list.tsx'
import { ActivityPanel, ReplayBar, StatusBar } from './status-bar.tsx'

function Live() {
  const who = visitor.value
  const isSignedIn = who !== null && who !== 'unknown'
  return (
    <>
      <Header home="/live" current="/live" links={['/live', '/console', '/docs']}>
        {isSignedIn ? (
          <a href="/console" title={who.role === 'owner' ? 'The minutes of this page are paid by this account' : ''}>
            {who.role === 'owner' ? `paid by ${who.account}` : who.name}
          </a>
        ) : (
          <a href="/console">Sign in</a>
        )}
      </Header>
      <main id="main" class="live">
        <h1>
          {coin.value ?? 'Live'} <small>{coin.value ? 'live book, candles and trades' : ''}</small>
        </h1>
        <StatusBar />
        <MarketList />
        <ChartPanel />
        <BookPanel />
        <TradePanel />
        <DepthPanel />
        <ReplayBar />
        <ActivityPanel />
        <p class="notices">
          Charts: TradingView Lightweight Charts™, © 2026 TradingView, Inc. <a href="/notices.txt">Notices</a>
        </p>
      </main>
    </>
  )
}

effect(() => {
  document.title = `${coin.value ?? 'Live'} · Weir`
})
render(<Live />, document.getElementById('app') ?? document.body)
void refreshVisitor()
start()
