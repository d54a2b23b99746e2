import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'
import {
  choice,
  choose,
  type ChosenColumn,
  clampWidth,
  dragged,
  widthOf,
  withWidth,
} from './column-state.js'
import { columnsTexts } from './columns-texts.js'

const STEP = 10
const STEPS: Readonly<Record<string, number>> = { ArrowLeft: -STEP, ArrowRight: STEP }

interface Props {
  /** The index of the column. */
  readonly at: number
  readonly column: ChosenColumn
  readonly children: ComponentChildren
}

/** A header whose right edge can be dragged. Shift with an arrow key also changes the width. */
export function ColumnHeader({ at, column, children }: Props) {
  const box = useRef<HTMLDivElement>(null)
  if (column.own === 'what') return <>{children}</>
  const resize = (width: number): void => choose(withWidth(choice.value, at, width))
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.shiftKey ? STEPS[event.key] : undefined
    if (by === undefined) return
    event.preventDefault()
    event.stopPropagation()
    resize(widthOf(column) + by)
  }
  const begin = (event: PointerEvent): void => {
    event.preventDefault()
    const handle = event.currentTarget as HTMLElement
    const start = event.clientX
    const { width } = box.current!.getBoundingClientRect()
    handle.setPointerCapture(event.pointerId)
    const ended = new AbortController()
    const { signal } = ended
    const drag = ({ clientX }: PointerEvent): void => {
      dragged.value = { at, width: clampWidth(width + clientX - start) }
    }
    const end = (): void => {
      ended.abort()
      const last = dragged.value
      dragged.value = undefined
      if (last) resize(last.width)
    }
    handle.addEventListener('pointermove', drag, { signal })
    handle.addEventListener('pointerup', end, { signal })
    handle.addEventListener('pointercancel', end, { signal })
  }
  return (
    <div class="chosen-header" role="presentation" ref={box} onKeyDown={onKeyDown}>
      {children}
      <span class="resizer" title={columnsTexts.resize} onPointerDown={begin} />
    </div>
  )
}
