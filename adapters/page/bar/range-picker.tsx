import { useSignal } from '@preact/signals'
import { changeQuery, query } from '../data/address.js'
import { zone } from '../data/format.js'
import { Icon } from '../ui/icon.js'
import { useDialog } from '../ui/native-dialog.js'
import { ALL_TIME, type Range, rangeAt } from '../data/query.js'
import { texts } from '../ui/texts.js'
import { dialog } from '../ui/dialog.js'
import { fromWallClock, toWallClock } from '../data/zoned-time.js'

const close = (): void => {
  dialog.value = undefined
}

function choose(range: Range): void {
  changeQuery((query) => ({ ...query, range }))
  close()
}

const PRESETS: readonly (readonly [text: string, range: Range])[] = [
  ...Object.entries(texts.range.ranges).map(([last, text]) => [text, { last }] as const),
  [texts.range.all, ALL_TIME],
]

const isSame = (left: Range, right: Range): boolean =>
  JSON.stringify(left) === JSON.stringify(right)

function Presets() {
  const { range } = query.value
  const shown: Range = 'last' in range || range.from || range.to ? range : ALL_TIME
  return (
    <ul>
      {PRESETS.map(([text, preset]) => {
        const isShown = isSame(shown, preset)
        return (
          <li key={text}>
            <button
              type="button"
              class="range-choice"
              aria-pressed={isShown}
              autofocus={isShown}
              onClick={() => choose(preset)}
            >
              {text}
              {isShown && <Icon name="check" />}
            </button>
          </li>
        )
      })}
    </ul>
  )
}

/** Fields for the ends of the range in the current time zone; an empty end is open. */
function Between() {
  const shown = rangeAt(query.value.range, new Date())
  const wall = {
    from: toWallClock(shown.from ?? '', zone.value),
    to: toWallClock(shown.to ?? '', zone.value),
  }
  const from = useSignal(wall.from)
  const to = useSignal(wall.to)
  // An unchanged end keeps its full precision.
  const readEnd = (end: 'from' | 'to', text: string): string | undefined =>
    text === wall[end] ? shown[end] : fromWallClock(text, zone.value)
  const isDisordered = from.value !== '' && to.value !== '' && from.value >= to.value

  function submit(event: Event): void {
    event.preventDefault()
    if (!isDisordered) choose({ from: readEnd('from', from.value), to: readEnd('to', to.value) })
  }

  return (
    <form class="range-between" onSubmit={submit}>
      {[[texts.range.from, from] as const, [texts.range.to, to] as const].map(([label, end]) => (
        <label key={label}>
          {label}
          <input
            type="datetime-local"
            step="1"
            value={end.value}
            onInput={(event) => (end.value = event.currentTarget.value)}
          />
        </label>
      ))}
      <p role="status">{isDisordered ? texts.range.order : texts.range.zone(zone.value)}</p>
      <button type="submit" class="btn main" disabled={isDisordered}>
        {texts.range.apply}
      </button>
    </form>
  )
}

/** Picks the time range: up to now, or between two times. */
export function RangePicker() {
  return (
    <dialog class="dropdown range-picker" aria-label={texts.range.title} {...useDialog(close)}>
      <Presets />
      <Between />
    </dialog>
  )
}
