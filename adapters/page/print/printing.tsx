import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { query } from '../data/address.js'
import { hostName } from '../data/config.js'
import { formatFull } from '../data/more-formats.js'
import { matching } from '../data/matching.js'
import { eventsText } from '../ui/count-text.js'
import { isCut, loadedWindow } from '../list/loading.js'
import { dialog } from '../ui/dialog.js'
import { lazy } from '../ui/lazy.js'
import { texts } from '../ui/texts.js'
import { EventTable } from './event-table.js'
import { printTexts } from './print-texts.js'
import { Fact, QueryFacts } from './query-facts.js'

const Report = lazy(() => import('./report.js'), 'Report')

const isPrinting = signal(false)

/** `100 events`, or `100 events loaded, of 2,163 events that match`. */
function countText(): string {
  const { events, hasFirst, hasLast } = loadedWindow.value
  const loaded = texts.common.events(events.length)
  const number = matching.value
  if ((hasFirst && hasLast && !isCut.value) || !number) return loaded
  return printTexts.loaded(loaded, eventsText(number.total, number.exact))
}

/** The loaded rows as a table. It replaces the list, which has only its visible rows. */
function PrintedList() {
  const { events } = loadedWindow.value
  const now = new Date().toISOString()
  return (
    <article class="printed printed-list">
      <h1>{[texts.common.page, hostName].filter(Boolean).join(' · ')}</h1>
      <dl class="print-facts">
        <Fact name={printTexts.printedAt}>{formatFull(now)}</Fact>
        <QueryFacts
          query={query.value}
          range={undefined}
          times={[now, ...events.map(({ created_at }) => created_at)]}
        />
        <Fact name={printTexts.count}>{countText()}</Fact>
      </dl>
      <EventTable events={events} />
    </article>
  )
}

/** Renders the list for the printer while the browser prints. */
function useIsPrinting(): boolean {
  useEffect(() => {
    const begin = (): void => {
      isPrinting.value = true
    }
    const end = (): void => {
      isPrinting.value = false
    }
    addEventListener('beforeprint', begin)
    addEventListener('afterprint', end)
    return () => {
      removeEventListener('beforeprint', begin)
      removeEventListener('afterprint', end)
    }
  }, [])
  return isPrinting.value
}

/** The content of a printed page: the report while it is open, else the list. */
export function Printing() {
  const isListed = useIsPrinting()
  if (dialog.value === 'report') return <Report />
  return isListed ? <PrintedList /> : null
}
