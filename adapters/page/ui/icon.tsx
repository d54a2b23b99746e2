import type { Level } from '../../../src/event/level.js'
import { levelOf } from '../../../src/event/level.js'

/** A drawing of the document's sprite, 16 px; what it means stands beside it in words. */
export function Icon({ name, className = 'ico' }: { name: string; className?: string }) {
  return (
    <svg class={className} aria-hidden="true">
      <use href={`#${name}`} />
    </svg>
  )
}

/** The shape of a level. */
export function Mark({ level }: { level: Level | 'denied' }) {
  return <Icon name={`m-${level}`} className="mark" />
}

/** An event type's shape: what was denied has one of its own. */
export const markOf = (type: string): Level | 'denied' =>
  type.endsWith(':denied') ? 'denied' : levelOf(type)
