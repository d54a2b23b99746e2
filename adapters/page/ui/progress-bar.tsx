import { texts } from './texts.js'

/** A progress bar, announced as a percentage from 0 to 100. */
export function ProgressBar({ percent }: { percent: number }) {
  return (
    <svg
      class="meter"
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      role="img"
      aria-label={texts.common.percent(percent)}
    >
      <rect width={percent} height="6" />
    </svg>
  )
}
