import { visibleText } from '../../../src/describing/visible-text.js'
import type { JsonValue } from '../../../src/event/event.js'
import { downloadBlob } from '../data/download.js'
import { formatBytes } from '../data/more-formats.js'
import { marked } from '../ui/marked.js'
import { texts } from '../ui/texts.js'
import { copyText } from '../ui/copy-text.js'
import { isParent, preview, type TreeNode } from './tree-nodes.js'

// Texts longer than the first limit are folded, longer than the second not shown.
const FOLD_LENGTH = 300
const MAX_LENGTH = 65_536

export const isFolding = (value: JsonValue): boolean =>
  typeof value === 'string' && value.length > FOLD_LENGTH && value.length <= MAX_LENGTH

const sizeOf = (text: string): string => formatBytes(new TextEncoder().encode(text).length)

interface LeafValueProps {
  readonly node: TreeNode
  readonly isOpen: boolean
  readonly toggle: () => void
}

function HugeText({ text, name }: { text: string; name: string }) {
  const save = (): void =>
    downloadBlob(new Blob([text], { type: 'text/plain' }), `${name || 'value'}.txt`)
  return (
    <span class="attribute-value none">
      {texts.panel.textOf(sizeOf(text))}{' '}
      <button type="button" class="link" onClick={() => void copyText(text)}>
        {texts.panel.copy}
      </button>{' '}
      <button type="button" class="link" onClick={save}>
        {texts.panel.download}
      </button>
    </span>
  )
}

function LongText({ text, isOpen, toggle }: { text: string; isOpen: boolean; toggle: () => void }) {
  return (
    <span class={isOpen ? 'attribute-value whole' : 'attribute-value'}>
      {marked(isOpen ? visibleText(text) : `${printed(text.slice(0, FOLD_LENGTH)).slice(0, -1)}…`)}{' '}
      <button type="button" class="link" onClick={toggle}>
        {isOpen ? texts.panel.fold : texts.panel.showAll(sizeOf(text))}
      </button>
    </span>
  )
}

const printed = (value: JsonValue): string => visibleText(JSON.stringify(value))

/** A value as JSON; for long texts, a preview or only the size. */
export function LeafValue({ node: { value, name }, isOpen, toggle }: LeafValueProps) {
  if (typeof value === 'string') {
    if (value.length > MAX_LENGTH) return <HugeText text={value} name={name} />
    if (value.length > FOLD_LENGTH) return <LongText text={value} isOpen={isOpen} toggle={toggle} />
    return <span class="attribute-value">{marked(printed(value))}</span>
  }
  if (typeof value === 'number') return <span class="attribute-value numeric">{value}</span>
  if (value === null || typeof value === 'boolean')
    return <span class="attribute-value word">{String(value)}</span>
  const isOpened = isOpen && isParent(value)
  return <span class="attribute-value none">{visibleText(preview(value, isOpened))}</span>
}
