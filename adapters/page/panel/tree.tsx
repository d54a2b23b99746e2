import { useState } from 'preact/hooks'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent, JsonValue } from '../../../src/event/event.js'
import { PERSONAL } from '../../../src/event/personal.js'
import type { Condition } from '../../../src/filter/ast.js'
import { formatNumber } from '../data/format.js'
import { Icon } from '../ui/icon.js'
import { letterKeys } from '../data/preferences.js'
import { marker } from '../ui/marked.js'
import { personalNotes } from '../personal/notes.js'
import { isEncryptedAt } from '../personal/opened-values.js'
import { personalTexts } from '../personal/personal-texts.js'
import { texts } from '../ui/texts.js'
import { isFolding, LeafValue } from './leaf-value.js'
import {
  childCount,
  childNodes,
  isParent,
  nodeCondition,
  rootNodes,
  type TreeNode,
} from './tree-nodes.js'
import { filterBy, ValueActions } from './value-actions.js'

// Children of a node shown per step.
const STEP = 100

interface TreeState {
  /** Pointers of nodes that the user has opened or closed. */
  readonly toggled: ReadonlySet<string>
  /** The number of children shown, by pointer, after the first step. */
  readonly limits: ReadonlyMap<string, number>
  /** The pointer of the node in the tab order. */
  readonly active: string
}

interface BranchProps {
  readonly event: AuditEvent
  readonly nodes: readonly TreeNode[]
  readonly state: TreeState
  readonly change: (part: Partial<TreeState>) => void
}

// Nodes with more children are closed at first.
const MAX_OPEN = 50

// Each level is searched again.
const MAX_FOUND_DEPTH = 8

/**
 * True for nodes that are initially open: two levels, except `changes`, which has a separate section, and the nodes
 * that free text finds.
 */
const isOpenAtFirst = ({ value, depth, key }: TreeNode): boolean =>
  (depth === 0 && isParent(value) && childCount(value) <= MAX_OPEN && key !== 'changes') ||
  (depth < MAX_FOUND_DEPTH && (isParent(value) || isFolding(value)) && isFound(value))

const isFound = (value: TreeNode['value']): boolean => marker.value?.contains(value) ?? false

const isOpenIn = ({ toggled }: TreeState, node: TreeNode): boolean =>
  isOpenAtFirst(node) !== toggled.has(node.pointer)

const limitIn = ({ limits }: TreeState, { pointer }: TreeNode): number =>
  limits.get(pointer) ?? STEP

function toggledIn({ toggled }: TreeState, { pointer }: TreeNode): Partial<TreeState> {
  const next = new Set(toggled)
  if (!next.delete(pointer)) next.add(pointer)
  return { toggled: next }
}

const copiedText = ({ value }: TreeNode): string =>
  typeof value === 'string' ? value : JSON.stringify(value, null, 2)

const itemsIn = (tree: Element): HTMLElement[] => [
  ...tree.querySelectorAll<HTMLElement>('[role=treeitem]'),
]

/** Moves the focus among the rendered items. */
function moveFrom(item: HTMLElement, key: string): void {
  const items = itemsIn(item.closest('[role=tree]')!)
  const at = items.indexOf(item)
  const parent = item.closest('[role=group]')?.previousElementSibling
  const targets: Readonly<Record<string, Element | null | undefined>> = {
    ArrowDown: items[at + 1],
    ArrowUp: items[at - 1],
    ArrowRight: items[at + 1],
    ArrowLeft: parent,
    Home: items[0],
    End: items.at(-1),
  }
  const target = targets[key]
  if (target instanceof HTMLElement) target.focus()
}

const MOVES = new Set(['ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowRight', 'Home', 'End'])

interface ItemProps extends Omit<BranchProps, 'nodes'> {
  readonly node: TreeNode
}

function Item({ event, node, state, change }: ItemProps) {
  const { pointer, key, value } = node
  const isPersonal = isEncryptedAt(event, pointer)
  // Nothing can be found by an encrypted value.
  const conditionOf = (not: boolean): Condition | undefined =>
    isPersonal ? undefined : nodeCondition(node, not)
  const isOpen = isOpenIn(state, node)
  const canOpen = isParent(value)
  const limit = limitIn(state, node)
  const more = childCount(value) - limit
  const isActive = state.active === pointer
  const toggle = (): void => change(toggledIn(state, node))

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey)
      return
    const item = event.currentTarget as HTMLElement
    const letter = letterKeys.value === 'on' ? event.key : ''
    const condition = letter === 'i' || letter === 'x' ? conditionOf(letter === 'x') : undefined
    if (condition) filterBy(condition)
    else if (event.key === 'Enter' || event.key === ' ') {
      if (!canOpen && !isFolding(value)) return
      toggle()
    } else if (MOVES.has(event.key)) {
      const opens = event.key === 'ArrowRight' && !isOpen
      const closes = event.key === 'ArrowLeft' && isOpen
      if (canOpen && (opens || closes)) toggle()
      else if (event.key !== 'ArrowRight' || (canOpen && isOpen)) moveFrom(item, event.key)
    } else return
    event.preventDefault()
  }

  return (
    <li role="none">
      <div
        class="leaf"
        role="treeitem"
        tabIndex={isActive ? 0 : -1}
        aria-expanded={canOpen ? isOpen : undefined}
        onFocus={() => isActive || change({ active: pointer })}
        onClick={(event) => canOpen && !(event.target as Element).closest('button') && toggle()}
        onKeyDown={onKeyDown}
      >
        {canOpen && <Icon name={isOpen ? 'down' : 'right'} className="ico toggle-icon" />}
        <span class="attribute-name" title={visibleText(key)}>
          <bdi>{visibleText(key)}</bdi>
        </span>
        <LeafValue node={node} isOpen={isOpen} toggle={toggle} />
        {isPersonal && <small class="tag">{personalTexts.tag}</small>}
        <ValueActions
          is={conditionOf(false)}
          isNot={conditionOf(true)}
          copied={() => copiedText(node)}
          inTabOrder={isActive}
        />
      </div>
      {canOpen && isOpen && (
        <ul role="group">
          <Branch event={event} nodes={childNodes(node, limit)} state={state} change={change} />
          {more > 0 && (
            <More
              count={more}
              show={() => change({ limits: new Map(state.limits).set(pointer, limit + STEP) })}
            />
          )}
        </ul>
      )}
    </li>
  )
}

function More({ count, show }: { count: number; show: () => void }) {
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' || event.key === ' ') show()
    else if (MOVES.has(event.key)) moveFrom(event.currentTarget as HTMLElement, event.key)
    else return
    event.preventDefault()
  }
  return (
    <li role="none">
      <div
        class="leaf more link"
        role="treeitem"
        tabIndex={-1}
        onClick={show}
        onKeyDown={onKeyDown}
      >
        {texts.panel.showMoreOf(Math.min(STEP, count), count)}
      </div>
    </li>
  )
}

function Branch({ nodes, ...rest }: BranchProps) {
  return (
    <>
      {nodes.map((node) => (
        <Item key={node.pointer} node={node} {...rest} />
      ))}
    </>
  )
}

/** The attributes, without the notes about encrypted values, which the facts show. */
function entriesOf(event: AuditEvent): readonly (readonly [string, JsonValue])[] {
  const entries = Object.entries(event.attributes)
  const shown =
    personalNotes(event).length > 0 ? entries.filter(([name]) => name !== PERSONAL) : entries
  return [...shown, ['system', event.system]]
}

/** The attributes of the event as a tree. Closed nodes have no elements for their children. */
export function Attributes({ event }: { event: AuditEvent }) {
  const nodes = rootNodes(entriesOf(event))
  const [state, set] = useState<TreeState>({
    toggled: new Set(),
    limits: new Map(),
    active: nodes[0]!.pointer,
  })
  const change = (part: Partial<TreeState>): void => set((before) => ({ ...before, ...part }))
  const limit = limitIn(state, ROOT)
  const more = nodes.length - limit
  return (
    <section class="section" aria-label={texts.panel.attributes}>
      <h2>
        {texts.panel.attributes} <span class="number">{formatNumber(nodes.length)}</span>
      </h2>
      <ul class="tree" role="tree" aria-label={texts.panel.attributes}>
        <Branch event={event} nodes={nodes.slice(0, limit)} state={state} change={change} />
        {more > 0 && (
          <More
            count={more}
            show={() => change({ limits: new Map(state.limits).set('', limit + STEP) })}
          />
        )}
      </ul>
    </section>
  )
}

const ROOT: TreeNode = { pointer: '', key: '', value: null, depth: -1, name: '' }
