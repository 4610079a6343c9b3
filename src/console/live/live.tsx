// The page /live.

import { render } from 'preact'
import { useEffect } from 'preact/hooks'
import { refreshVisitor, visitor } from '../session.dom.ts'
import { Footer, Header } from '../ui/frame.tsx'
import { BookPanel, DepthPanel, TradePanel } from './book-panel.tsx'
import { ChartPanel } from './chart-panel.tsx'
import { priceText } from './formats.ts'
import { ActivityPanel, Notes } from './health.tsx'
import { coin, start } from './live-page.dom.ts'
import { lastPrice, MarketHeader } from './market-header.tsx'
import { MarketList } from './market-list.tsx'
import { ReplayBar } from './replay-bar.tsx'
import * as strings from './strings.ts'
import { Tabs, tab } from './tabs.tsx'

/** A title that changed with every trade would flicker. */
const TITLE_MS = 1_000

function setTitle(): void {
  const { px } = lastPrice.peek()
  const price = Number.isFinite(px) ? `${priceText(px)} · ` : ''
  document.title = `${price}${coin.peek() ?? strings.pageTitle} · Weir`
}

function Live() {
  useEffect(() => {
    const timer = setInterval(setTitle, TITLE_MS)
    return () => clearInterval(timer)
  }, [])
  const who = visitor.value
  const isSignedIn = who !== null && who !== 'unknown'
  return (
    <>
      <Header home="/" current="/live" links={['/live', '/console', '/docs', '/status']}>
        {isSignedIn ? (
          <a href="/console" title={who.role === 'owner' ? strings.pagePaidByHint : ''}>
            {who.role === 'owner' ? strings.pagePaidBy(who.account) : who.name}
          </a>
        ) : (
          <a href="/console">{strings.pageSignIn}</a>
        )}
      </Header>
      <main id="main" class="live" data-tab={tab.value}>
        <MarketHeader />
        <Tabs />
        <MarketList />
        <ChartPanel />
        <BookPanel />
        <TradePanel />
        <DepthPanel />
        <ReplayBar />
        <ActivityPanel />
        <Notes />
      </main>
      <Footer>
        <p class="notices">
          Charts: TradingView Lightweight Charts™, © 2026 TradingView, Inc.{' '}
          <a href="/notices.txt">{strings.pageNotices}</a>
        </p>
      </Footer>
    </>
  )
}

render(<Live />, document.getElementById('app') ?? document.body)
void refreshVisitor()
start()
