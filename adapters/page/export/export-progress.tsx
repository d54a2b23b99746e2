import { texts } from '../ui/texts.js'
import { exportRun } from './export-state.js'

/** The progress of a running export, on the export button. */
export function ExportProgress() {
  const run = exportRun.value
  if (run?.state !== 'running') return null
  const { count, total = 0 } = run
  const percent = total > 0 ? Math.min(100, Math.round((count / total) * 100)) : 0
  return (
    <svg
      class="export-mark"
      viewBox="0 0 100 3"
      preserveAspectRatio="none"
      role="img"
      aria-label={texts.common.percent(percent)}
    >
      <rect width={percent} height="3" />
    </svg>
  )
}
