import { effect, signal } from '@preact/signals'
import { render } from 'preact'
import { sentenceText } from '../../../src/describing/sentence-text.js'
import { openId, openManaged } from '../data/address.js'
import { byLanguage } from '../data/language.js'
import { useEscape } from '../ui/keyboard.js'
import { announce } from '../ui/notes.js'
import { sentenceOf } from '../ui/sentence.js'
import { eventById } from './row-focus.js'

const words = byLanguage({
  en: {
    choose: 'Open the event to compare with, or press m on its row',
    compare: 'Compare',
    cancel: 'Cancel',
  },
  de: {
    choose: 'Öffnen Sie das andere Ereignis des Vergleichs, oder drücken Sie m in seiner Zeile',
    compare: 'Vergleichen',
    cancel: 'Abbrechen',
  },
})

/** The place of a comparison in the address, before the ids. */
export const COMPARE_PLACE = 'compare='

/** The first of two events to compare, while the second is being chosen. */
export const pickedId = signal<string | undefined>(undefined)

const cancel = (): void => {
  pickedId.value = undefined
}

function compare(id: string, other: string): void {
  cancel()
  openManaged(`${COMPARE_PLACE}${id},${other}`)
}

// Opening the second event, in any way, chooses it.
effect(() => {
  const [first, second] = [pickedId.value, openId.value]
  // Done later, because `openEvent` is still changing the address.
  if (first !== undefined && second !== undefined && second !== first)
    queueMicrotask(() => compare(first, second))
})

/**
 * Chooses an event to compare. The second one opens the comparison. Choosing the first one again cancels it. The open
 * event counts as the first.
 */
export function pickEvent(id: string): void {
  const first = pickedId.value ?? openId.value
  if (id === pickedId.value) return cancel()
  if (first !== undefined && first !== id) return compare(first, id)
  showBar()
  pickedId.value = id
  announce(words.choose, true)
}

/** Chooses the event of the row in focus, else the open one. */
export function pickFocused(): void {
  const row = document.activeElement?.closest<HTMLElement>('.row[data-id]')
  const id = row?.dataset['id'] ?? openId.value
  if (id !== undefined) pickEvent(id)
}

function Open() {
  useEscape(true, cancel)
  const event = eventById(pickedId.value)
  return (
    <div class="picking">
      <span>
        {event && (
          <>
            {words.compare} <b>{sentenceText(sentenceOf(event))}</b>.{' '}
          </>
        )}
        {words.choose}
      </span>
      <button type="button" class="btn small" onClick={cancel}>
        {words.cancel}
      </button>
    </div>
  )
}

const Bar = () => (pickedId.value === undefined ? null : <Open />)

let place: HTMLElement | undefined

/** Shows the next step. It has a separate root, so that the first script needs no code for it. */
function showBar(): void {
  if (place) return
  place = document.body.appendChild(document.createElement('div'))
  render(<Bar />, place)
}
