import { render } from 'preact'
import type { AuditEvent } from '../../../src/event/event.js'
import { sentenceText } from '../../../src/describing/sentence-text.js'
import { changeQuery, openEvent } from '../data/address.js'
import { describeConjunct, phraseText } from '../data/phrases.js'
import { useDialog } from '../ui/native-dialog.js'
import { useRoving } from '../ui/roving.js'
import { sentenceOf } from '../ui/sentence.js'
import { SheetHead } from '../ui/sheet-head.js'
import { texts } from '../ui/texts.js'
import { cellConjunct, COLUMNS, withCell } from './cells.js'
import { copyLink } from './copy-commands.js'
import { pickEvent } from './pick-event.js'
import { eventById } from './row-focus.js'
import { rowMenuTexts } from './row-menu-texts.js'

type Command = readonly [text: string, act: () => void]

/** *is* and *is not* of each cell. */
const filtersOf = (event: AuditEvent): readonly Command[] =>
  COLUMNS.flatMap((column) =>
    [false, true].flatMap((not): readonly Command[] => {
      const conjunct = cellConjunct(event, column, not)
      if (!conjunct) return []
      const text = rowMenuTexts.filter(phraseText(describeConjunct(conjunct, texts.words)))
      return [[text, () => changeQuery((query) => withCell(query, conjunct))]]
    }),
  )

const commandsOf = (event: AuditEvent): readonly Command[] => [
  [rowMenuTexts.open, () => openEvent(event.id)],
  ...filtersOf(event),
  [rowMenuTexts.compare, () => pickEvent(event.id)],
  [
    rowMenuTexts.copyLink,
    () => {
      openEvent(event.id)
      void copyLink()
    },
  ],
]

function Menu({ event, close }: { event: AuditEvent; close: () => void }) {
  const roving = useRoving<HTMLUListElement>('li')
  return (
    <dialog
      class="dropdown range-picker commands"
      aria-label={rowMenuTexts.title}
      {...useDialog(close)}
    >
      <SheetHead title={sentenceText(sentenceOf(event))} close={close} />
      <ul {...roving}>
        {commandsOf(event).map(([text, act]) => (
          <li key={text}>
            <button
              type="button"
              class="range-choice"
              onClick={() => {
                close()
                act()
              }}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
    </dialog>
  )
}

let place: HTMLElement | undefined

/** Opens the menu of a row. A root of its own, so that the first script needs no code for it. */
export function openRowMenu(id: string): void {
  const event = eventById(id)
  if (!event) return
  place ??= document.body.appendChild(document.createElement('div'))
  const root = place
  render(<Menu event={event} close={() => render(null, root)} />, root)
}
