import { useEffect, useRef } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import { filterableAttributes, loadFilterOptions } from '../data/filter-options.js'
import { Icon } from '../ui/icon.js'
import { useDialog } from '../ui/native-dialog.js'
import { showNote } from '../ui/notes.js'
import { SheetHead } from '../ui/sheet-head.js'
import {
  choice,
  choose,
  type ChosenColumn,
  columnNamed,
  isSame,
  MAX_COLUMNS,
  MAX_WIDTH,
  MIN_WIDTH,
  ownNames,
  resetColumns,
  titleOf,
  widthOf,
  withWidth,
} from './column-state.js'
import { columnsTexts } from './columns-texts.js'

const NAMES = 'column-names'

function move(at: number, by: 1 | -1): void {
  const columns = [...choice.value.columns]
  const [moved] = columns.splice(at, 1)
  columns.splice(at + by, 0, moved!)
  choose({ ...choice.value, columns })
}

function Item({ column, at, count }: { column: ChosenColumn; at: number; count: number }) {
  const name = visibleText(titleOf(column))
  const remove = (): void =>
    choose({ ...choice.value, columns: choice.value.columns.filter((_, i) => i !== at) })
  return (
    <li>
      <bdi>{name}</bdi>
      {column.own !== 'what' && (
        <input
          type="number"
          min={MIN_WIDTH}
          max={MAX_WIDTH}
          step={10}
          value={widthOf(column)}
          aria-label={columnsTexts.width(name)}
          onChange={(event) => {
            const width = event.currentTarget.valueAsNumber
            if (!Number.isNaN(width)) choose(withWidth(choice.value, at, width))
          }}
        />
      )}
      <button
        type="button"
        class="btn quiet square"
        aria-label={columnsTexts.earlier(name)}
        disabled={at === 0}
        onClick={() => move(at, -1)}
      >
        <Icon name="up" />
      </button>
      <button
        type="button"
        class="btn quiet square"
        aria-label={columnsTexts.later(name)}
        disabled={at === count - 1}
        onClick={() => move(at, 1)}
      >
        <Icon name="down" />
      </button>
      <button
        type="button"
        class="btn quiet square"
        aria-label={columnsTexts.remove(name)}
        disabled={column.own === 'what'}
        onClick={remove}
      >
        <Icon name="x" />
      </button>
    </li>
  )
}

function add(text: string): void {
  // A typed name is the label of a column of the list, or the name of any attribute.
  const own = ownNames.find((name) => titleOf(columnNamed(name)) === text)
  const column = columnNamed(own ?? `.${text}`)
  const { columns } = choice.value
  if (text === '' || columns.some((other) => isSame(other, column))) return
  if (columns.length >= MAX_COLUMNS) showNote(columnsTexts.full)
  else choose({ ...choice.value, columns: [...columns, column] })
}

function AddColumn() {
  const field = useRef<HTMLInputElement>(null)
  const missing = ownNames
    .map(columnNamed)
    .filter((own) => !choice.value.columns.some((column) => isSame(column, own)))
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        add(field.current!.value.trim())
        field.current!.value = ''
      }}
    >
      <label>
        {columnsTexts.add}
        <input
          ref={field}
          list={NAMES}
          placeholder={columnsTexts.attribute}
          autocomplete="off"
          spellcheck={false}
          autofocus
        />
      </label>
      <button type="submit" class="btn small">
        {columnsTexts.addIt}
      </button>
      <datalist id={NAMES}>
        {missing.map((own) => (
          <option key={own.name} value={titleOf(own)} />
        ))}
        {filterableAttributes.value.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </form>
  )
}

/** Chooses the columns of the list, their order and widths, and the time that the time column shows. */
export function ColumnsSheet({ close }: { close: () => void }) {
  const sheet = useDialog(close)
  useEffect(loadFilterOptions, [])
  const { columns, time } = choice.value
  return (
    <dialog class="sheet columns-sheet" aria-label={columnsTexts.title} {...sheet}>
      <SheetHead title={columnsTexts.title} close={close} />
      <div class="columns-body">
        <ol>
          {columns.map((column, at) => (
            <Item
              key={`${column.own} ${column.name}`}
              column={column}
              at={at}
              count={columns.length}
            />
          ))}
        </ol>
        <AddColumn />
        <label>
          {columnsTexts.time}
          <input
            key={time}
            defaultValue={time ?? ''}
            placeholder="created_at"
            list={NAMES}
            autocomplete="off"
            spellcheck={false}
            onChange={({ currentTarget: { value } }) => {
              const name = value.trim()
              choose({
                ...choice.value,
                time: name === '' || name === 'created_at' ? undefined : name,
              })
            }}
          />
        </label>
        <p>{columnsTexts.timeHint}</p>
        <p>{columnsTexts.hint}</p>
      </div>
      <div class="builder-foot">
        <span />
        <div class="actions">
          <button type="button" class="btn small" onClick={resetColumns}>
            {columnsTexts.reset}
          </button>
          <button type="button" class="btn small main" onClick={close}>
            {columnsTexts.done}
          </button>
        </div>
      </div>
    </dialog>
  )
}
