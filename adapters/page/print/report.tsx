import { useEffect, useState } from 'preact/hooks'
import { query } from '../data/address.js'
import { ApiError } from '../data/api.js'
import { hostName } from '../data/config.js'
import { curlLine } from '../data/curl-command.js'
import { formatNumber } from '../data/format.js'
import { formatFull } from '../data/more-formats.js'
import { apiQueryWith, type PageQuery, rangeAt } from '../data/query.js'
import { dialog } from '../ui/dialog.js'
import { useDialog } from '../ui/native-dialog.js'
import { SheetHead } from '../ui/sheet-head.js'
import { texts } from '../ui/texts.js'
import { EventTable } from './event-table.js'
import { printTexts } from './print-texts.js'
import { Fact, QueryFacts } from './query-facts.js'
import { filtersOf, readableExport, type ReportData, requestReport } from './report-request.js'

const close = (): void => {
  dialog.value = undefined
}

/** A report, with its request. */
interface Report {
  readonly data: ReportData
  readonly query: PageQuery
  /** Time of the request. */
  readonly at: Date
}

interface ReportState {
  readonly report?: Report
  readonly error?: Error
}

function useReport(attempt: number): ReportState {
  const [state, set] = useState<ReportState>({})
  useEffect(() => {
    const controller = new AbortController()
    const [requested, at] = [query.value, new Date()]
    set({})
    requestReport(apiQueryWith(requested, [], at), controller.signal).then(
      (data) => set({ report: { data, query: requested, at } }),
      (error: Error) => {
        if (!controller.signal.aborted) set({ error })
      },
    )
    return () => controller.abort()
  }, [attempt])
  return state
}

function errorText(error: Error): string {
  if (!(error instanceof ApiError)) return printTexts.failed('')
  const { total, exact, max } = error.problem?.meta ?? {}
  if (error.status === 403) return printTexts.denied
  if (error.status !== 422) return printTexts.failed(error.problem?.detail ?? '')
  if (total === undefined || max === undefined) return printTexts.tooLarge
  const number = formatNumber(total)
  return printTexts.tooMany(exact ? number : texts.common.atLeast(number), max)
}

/** Both ends of the range as times; `undefined` if it has none. */
function rangeOf({ query, at }: Report): string | undefined {
  const { from, to } = rangeAt(query.range, at)
  if (from === undefined && to === undefined) return undefined
  const [first, last] = [from, to ?? at.toISOString()].map((time) => time && formatFull(time))
  return first === undefined ? texts.range.until(last!) : texts.range.between(first, last!)
}

function Facts({ report }: { report: Report }) {
  const { data, query, at } = report
  const { origin, pathname } = location
  return (
    <dl class="print-facts">
      <Fact name={printTexts.madeBy}>{data.username}</Fact>
      <Fact name={printTexts.madeAt}>{formatFull(at.toISOString())}</Fact>
      <QueryFacts
        query={query}
        range={rangeOf(report)}
        times={[at.toISOString(), ...data.events.map(({ created_at }) => created_at)]}
      />
      <Fact name={printTexts.address}>
        <span class="mono">{`${origin}${pathname}?${filtersOf(data)}`}</span>
      </Fact>
      <Fact name={printTexts.count}>
        {printTexts.oldestFirst(texts.common.events(data.events.length))}
        {data.open > 0 && `. ${printTexts.open(data.open)}`}
      </Fact>
      <Fact name={printTexts.digest}>
        <span class="mono digest">{data.sha256}</span>
      </Fact>
      <Fact name={printTexts.check}>
        {printTexts.checkHint}
        <span class="mono command">
          {`${curlLine(data.username, origin + readableExport(data))} | sha256sum`}
        </span>
      </Fact>
    </dl>
  )
}

/** The name of a PDF file is the title of the document. */
function useDocumentTitle(title: string): void {
  useEffect(() => {
    const before = document.title
    document.title = title
    return () => {
      document.title = before
    }
  }, [title])
}

/** All matching events as a document that can be printed, with the digest of their export. */
export function Report() {
  const sheet = useDialog(close)
  const [attempt, retry] = useState(0)
  const [title, setTitle] = useState(() => printTexts.defaultTitle(hostName))
  const { report, error } = useReport(attempt)
  useDocumentTitle(title)
  return (
    <dialog class="report" aria-label={printTexts.report} {...sheet}>
      <SheetHead title={printTexts.report} close={close} />
      <div class="report-tools">
        <input
          class="field"
          aria-label={printTexts.titleField}
          value={title}
          autofocus
          autocomplete="off"
          onInput={({ currentTarget }) => setTitle(currentTarget.value)}
        />
        <button
          type="button"
          class="btn main"
          disabled={!report}
          onClick={() => globalThis.print()}
        >
          {printTexts.print}
        </button>
      </div>
      <div class="report-body" tabIndex={0} role="region" aria-label={printTexts.table}>
        <p class="report-state" role="status">
          {error ? errorText(error) : !report && printTexts.making}
          {error && (
            <button type="button" class="link" onClick={() => retry(attempt + 1)}>
              {printTexts.again}
            </button>
          )}
        </p>
        {report && (
          <article class="printed">
            <h1>{title}</h1>
            <Facts report={report} />
            <EventTable events={report.data.events} />
          </article>
        )}
      </div>
    </dialog>
  )
}
