import { useLayoutEffect, useState } from 'preact/hooks'
import { account } from '../data/account.js'
import { query } from '../data/address.js'
import { attributeColumns } from '../columns/column-state.js'
import { escapeInvisible } from '../data/phrases.js'
import { curlLine } from '../data/curl-command.js'
import { matching } from '../data/matching.js'
import { useDialog } from '../ui/native-dialog.js'
import { ProgressBar } from '../ui/progress-bar.js'
import { SheetHead } from '../ui/sheet-head.js'
import { eventsText } from '../ui/count-text.js'
import { dialog } from '../ui/dialog.js'
import { copyText } from '../ui/copy-text.js'
import { printTexts } from '../print/print-texts.js'
import { type ExportRun, exportRun, percentOf } from './export-state.js'
import { exportTexts } from './export-texts.js'
import { EXPORT_FORMATS, type ExportFormat, exportFormats, hasRecords } from './records.js'
import { currentExportUrl, hasShownColumns, startExport, stopExport } from './run-export.js'
import { amountText, endText } from './describe-run.js'

const close = (): void => {
  dialog.value = undefined
}

const curl = (format: ExportFormat): string =>
  `${curlLine(account.value?.username, location.origin + currentExportUrl(format))} > events.${exportFormats[format].extension}`

function Progress(run: ExportRun) {
  const { format, state } = run
  const isSaved = state === 'done'
  const isCountable = hasRecords(format)
  return (
    <>
      <div class="log-top">
        <span>{exportTexts.states[state]}</span>
        {(isSaved || isCountable) && <ProgressBar percent={isSaved ? 100 : percentOf(run)} />}
        <span class="number">{amountText(run)}</span>
      </div>
      {!isCountable && !isSaved && state !== 'running' && <p>{endText(run)}</p>}
    </>
  )
}

interface ColumnsChoiceProps {
  readonly format: ExportFormat
  readonly disabled: boolean
}

/** Choice of columns for the shown attributes. Parquet has one with all attributes in any case. */
function ColumnsChoice({ format, disabled }: ColumnsChoiceProps) {
  const shown = attributeColumns.value.map(escapeInvisible)
  if (!exportFormats[format].hasColumns || (format === 'parquet' && shown.length === 0)) return null
  return (
    <label class="export-columns">
      <input
        type="checkbox"
        checked={hasShownColumns.value}
        disabled={disabled}
        onChange={(event) => (hasShownColumns.value = event.currentTarget.checked)}
      />
      {format === 'parquet'
        ? exportTexts.additionalColumns(shown)
        : exportTexts.shownColumns(shown)}
    </label>
  )
}

/** Starts an export and shows its progress. Closing the sheet does not stop the export. */
export function ExportSheet() {
  const [format, choose] = useState<ExportFormat>(exportRun.value?.format ?? 'ndjson')
  const sheet = useDialog(close, { isModal: false })
  useLayoutEffect(() => {
    // The height of the bar depends on how many lines its chips take.
    const { bottom } = document.querySelector('.bar')!.getBoundingClientRect()
    sheet.ref.current!.style.setProperty('--under-bar', `${bottom}px`)
  }, [])
  const run = exportRun.value
  const isRunning = run?.state === 'running'
  const number = matching.value
  // Subscribes to the query, which the curl command contains.
  void query.value
  return (
    <dialog class="sheet export" aria-label={exportTexts.title} {...sheet}>
      <SheetHead
        title={
          number && (number.exact || number.total > 0)
            ? exportTexts.heading(eventsText(number.total, number.exact))
            : exportTexts.title
        }
        close={close}
      />
      <div class="export-body">
        <span class="seg" role="group" aria-label={exportTexts.format}>
          {EXPORT_FORMATS.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={name === format}
              disabled={isRunning}
              onClick={() => choose(name)}
            >
              {exportFormats[name].label}
            </button>
          ))}
        </span>
        <ColumnsChoice format={format} disabled={isRunning} />
        <p>{exportTexts.what[format]}</p>
        {run && <Progress {...run} />}
        <p class="raw-live">{curl(format)}</p>
      </div>
      <div class="builder-foot">
        <span>{isRunning && exportTexts.goesOn}</span>
        <div class="actions">
          <button type="button" class="btn small" onClick={() => (dialog.value = 'report')}>
            {printTexts.report}
          </button>
          <button type="button" class="btn small" onClick={() => void copyText(curl(format))}>
            {exportTexts.copyCurl}
          </button>
          {isRunning ? (
            <button type="button" class="btn small" onClick={stopExport}>
              {exportTexts.stop}
            </button>
          ) : (
            <button type="button" class="btn small main" onClick={() => void startExport(format)}>
              {exportTexts.start(exportFormats[format].label)}
            </button>
          )}
        </div>
      </div>
    </dialog>
  )
}
