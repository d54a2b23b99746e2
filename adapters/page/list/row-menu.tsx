import { render } from 'preact'
import type { AuditEvent } from '../../../src/event/event.js'
import { visibleText } from '../../../src/describing/visible-text.js'
import { changeQuery, openEvent } from '../data/address.js'
import { describeConjunct, phraseText } from '../data/phrases.js'
import { type Command, CommandMenu } from '../ui/command-menu.js'
import { sentenceOf, SentenceBody } from '../ui/sentence.js'
import { SheetHead } from '../ui/sheet-head.js'
import { texts } from '../ui/texts.js'
import { cellConjunct, COLUMNS, withCell } from './cells.js'
import { copyLink } from './copy-commands.js'
import { pickEvent } from './pick-event.js'
import { eventById } from './row-focus.js'
import { rowMenuTexts } from './row-menu-texts.js'

/** *is* and *is not* of each cell. */
const filtersOf = (event: AuditEvent): readonly Command[] =>
  COLUMNS.flatMap((column) =>
    [false, true].flatMap((not): readonly Command[] => {
      const conjunct = cellConjunct(event, column, not)
      if (!conjunct) return []
      const text = rowMenuTexts.filter(phraseText(describeConjunct(conjunct, texts.words)))
      return [{ text, act: () => changeQuery((query) => withCell(query, conjunct)) }]
    }),
  )

function openAndCopy(id: string): void {
  openEvent(id)
  void copyLink()
}

const commandsOf = (event: AuditEvent): readonly Command[] => [
  { text: rowMenuTexts.open, act: () => openEvent(event.id) },
  ...filtersOf(event),
  { text: rowMenuTexts.compare, act: () => pickEvent(event.id) },
  { text: rowMenuTexts.copyLink, act: () => openAndCopy(event.id) },
]

function Sentence({ event }: { event: AuditEvent }) {
  const sentence = sentenceOf(event)
  return (
    <>
      {sentence.who !== null && (
        <>
          <bdi>{visibleText(sentence.who)}</bdi>
          {sentence.isVerbFirst ? ' ' : ': '}
        </>
      )}
      <SentenceBody sentence={sentence} />
    </>
  )
}

let place: HTMLElement | undefined

/** Opens the menu of a row. It has a separate root, so that the first script needs no code for it. */
export function openRowMenu(id: string): void {
  const event = eventById(id)
  if (!event) return
  place ??= document.body.appendChild(document.createElement('div'))
  const root = place
  const close = (): void => render(null, root)
  render(
    <CommandMenu label={rowMenuTexts.title} commands={commandsOf(event)} close={close}>
      <SheetHead title={<Sentence event={event} />} close={close} />
    </CommandMenu>,
    root,
  )
}
