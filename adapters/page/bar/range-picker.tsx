import { useSignal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { changeQuery, query, zone } from '../data/address.js'
import { filterableAttributes, loadFilterOptions } from '../data/filter-options.js'
import { Icon } from '../ui/icon.js'
import { useDialog } from '../ui/native-dialog.js'
import { ALL_TIME, type Range, rangeAt } from '../data/query.js'
import { useLocalTime } from '../ui/local-time.js'
import { rangeText } from '../ui/range-text.js'
import { texts } from '../ui/texts.js'
import { dialog } from '../ui/dialog.js'
import { barTexts } from './bar-texts.js'
import { showSinceNewest } from './since-newest.js'
import { typedAt } from './typed-at.js'
import { readTypedRange } from './typed-range.js'

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
  const [shown] = useState(() => rangeAt(query.value.range, new Date()))
  const from = useLocalTime(shown.from)
  const to = useLocalTime(shown.to)
  const isDisordered =
    from.time !== undefined && to.time !== undefined && new Date(from.time) >= new Date(to.time)

  function submit(event: Event): void {
    event.preventDefault()
    if (!isDisordered) choose({ from: from.time, to: to.time })
  }

  return (
    <form onSubmit={submit}>
      {[[texts.range.from, from] as const, [texts.range.to, to] as const].map(([label, end]) => (
        <label key={label}>
          {label}
          <input
            type="datetime-local"
            step="1"
            value={end.wall.value}
            onInput={(event) => (end.wall.value = event.currentTarget.value)}
          />
          {end.note}
        </label>
      ))}
      {isDisordered && <p role="status">{texts.range.order}</p>}
      <button type="submit" class="btn main" disabled={isDisordered}>
        {texts.range.apply}
      </button>
    </form>
  )
}

/** A time in words, such as `yesterday 14:00-15:00`. */
function Typed() {
  const text = useSignal('')
  const range = readTypedRange(text.value, typedAt())
  const isWrong = text.value.trim() !== '' && !range

  function submit(event: Event): void {
    event.preventDefault()
    if (range) choose(range)
  }

  return (
    <form onSubmit={submit}>
      <label>
        {barTexts.typed}
        <input
          type="text"
          autocomplete="off"
          enterkeyhint="done"
          placeholder={barTexts.typedExample}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
        />
      </label>
      {(range || isWrong) && (
        <p role="status">{range ? rangeText(range) : barTexts.notUnderstood}</p>
      )}
    </form>
  )
}

const TYPES = 'types-of-events'

/** The time since the newest event of a type, such as a deployment. */
function SinceType() {
  const type = useSignal('')
  const known = filterableAttributes.value.find(({ name }) => name === 'type')?.values ?? []
  useEffect(loadFilterOptions, [])

  function submit(event: Event): void {
    event.preventDefault()
    if (type.value.trim() === '') return
    showSinceNewest(type.value.trim()).catch(() => undefined)
    close()
  }

  return (
    <form onSubmit={submit}>
      <label>
        {barTexts.sinceType}
        <input
          type="text"
          list={TYPES}
          autocomplete="off"
          enterkeyhint="done"
          value={type.value}
          onInput={(event) => (type.value = event.currentTarget.value)}
        />
      </label>
      <datalist id={TYPES}>
        {known.map(({ value }) => (
          <option key={value} value={value} />
        ))}
      </datalist>
    </form>
  )
}

/** Picks the time range: up to now, of the calendar, typed, or between two times. */
export function RangePicker() {
  return (
    <dialog class="dropdown range-picker" aria-label={texts.range.title} {...useDialog(close)}>
      <Presets />
      <div class="range-between">
        <Typed />
        <Between />
        <SinceType />
        <p class="range-zone">
          {texts.range.zone(zone.value)}
          <button type="button" class="link" onClick={() => (dialog.value = 'zone')}>
            {barTexts.changeZone}
          </button>
        </p>
      </div>
    </dialog>
  )
}
