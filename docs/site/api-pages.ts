import {
  type ApiClass,
  ApiDeclaredItem,
  ApiDocumentedItem,
  ApiExportedMixin,
  type ApiInterface,
  type ApiItem,
  ApiItemKind,
  type ApiPackage,
  ApiPropertyItem,
  type Excerpt,
  ExcerptTokenKind,
} from '@microsoft/api-extractor-model'
import { blockText, commentText } from './doc-comment.js'

/* Makes Markdown of the declarations of an entry point. */

export interface EntryPage {
  readonly name: string
  readonly page: string
  readonly api: ApiPackage
}

/** Name of a declaration -> where it is described, as an entry point sees it. */
type Links = (name: string) => string | undefined

export type LinkTable = ReadonlyMap<string, string>

const declared = (entry: EntryPage): readonly ApiItem[] => entry.api.entryPoints[0]!.members

const isExported = (item: ApiItem): boolean =>
  !ApiExportedMixin.isBaseClassOf(item) || item.isExported

const exported = (entry: EntryPage): readonly ApiItem[] => declared(entry).filter(isExported)

const anchor = (name: string): string => name

const target = (entry: EntryPage, name: string): string => `${entry.page}.md#${anchor(name)}`

/** Where each exported name is described: on the page of the first entry point that exports it. */
export function linkTable(entries: readonly EntryPage[]): LinkTable {
  const links = new Map<string, string>()
  for (const entry of entries)
    for (const { displayName } of exported(entry))
      if (!links.has(displayName)) links.set(displayName, target(entry, displayName))
  return links
}

/** Declarations that exported ones name, but that no entry point exports. */
function supporting(entry: EntryPage, links: LinkTable): readonly ApiItem[] {
  const byName = new Map(declared(entry).map((item) => [item.displayName, item]))
  const found = new Set<ApiItem>()
  const visit = (item: ApiItem): void => {
    for (const name of references(item)) {
      const next = byName.get(name)
      if (!next || isExported(next) || links.has(name) || found.has(next)) continue
      found.add(next)
      visit(next)
    }
  }
  exported(entry).forEach(visit)
  return [...found]
}

function references(item: ApiItem): string[] {
  const own =
    item instanceof ApiDeclaredItem
      ? item.excerptTokens.map(({ canonicalReference }) => canonicalReference)
      : []
  return [
    ...own.map((reference) => referenceName(reference)).filter((name) => name !== undefined),
    ...item.members.flatMap(references),
  ]
}

/** `daybook!~RouteTypes:type` -> `RouteTypes` */
const referenceName = (reference: { toString(): string } | undefined): string | undefined =>
  /!~?(\w+)/.exec(reference?.toString() ?? '')?.[1]

export function indexPage(entries: readonly EntryPage[]): string {
  const rows = entries.map((entry) => {
    const values = exported(entry).filter(({ kind }) => isValue(kind))
    const names = values.map(
      ({ displayName }) => `[\`${displayName}\`](${target(entry, displayName)})`,
    )
    return `| [\`${entry.name}\`](${entry.page}.md) | ${names.join(', ')} |`
  })
  return [
    '# API reference',
    '',
    'Made from the comments in the source. Each entry point has its own page; types are listed after functions and classes.',
    '',
    '| Import | Exports |',
    '| --- | --- |',
    ...rows,
    '',
  ].join('\n')
}

const isValue = (kind: ApiItemKind): boolean =>
  kind === ApiItemKind.Class || kind === ApiItemKind.Function || kind === ApiItemKind.Variable

export function entryPage(entry: EntryPage, table: LinkTable): string {
  const own = exported(entry)
  const others = supporting(entry, table)
  const local = new Set([...own, ...others].map(({ displayName }) => displayName))
  const links: Links = (name) => (local.has(name) ? `#${anchor(name)}` : table.get(name))
  const byName = new Map([...own, ...others].map((item) => [item.displayName, item]))
  const sections = (items: readonly ApiItem[]): string[] =>
    [...groupByName(sorted(items))].map(([name, overloads]) =>
      [
        ...section(name, overloads, links),
        ...overloads.flatMap((item) => callOf(item, byName, links)),
      ].join('\n\n'),
    )
  return `${[
    `# ${entry.name}`,
    `\`import { … } from '${entry.name}'\``,
    ...sections(own),
    ...sections(others),
  ].join('\n\n')}\n`
}

/** Functions, classes and constants first, then types; by name. */
const sorted = (items: readonly ApiItem[]): ApiItem[] =>
  items.toSorted(
    (a, b) =>
      Number(isValue(b.kind)) - Number(isValue(a.kind)) ||
      a.displayName.localeCompare(b.displayName, 'en'),
  )

function groupByName(items: readonly ApiItem[]): Map<string, ApiItem[]> {
  const groups = new Map<string, ApiItem[]>()
  for (const item of items)
    groups.set(item.displayName, [...(groups.get(item.displayName) ?? []), item])
  return groups
}

function section(name: string, items: readonly ApiItem[], links: Links): string[] {
  const parts = [`## ${name} {#${anchor(name)}}`]
  if (!items.every(isExported)) parts.push('Used by the types above; not exported by name.')
  for (const item of items) {
    parts.push(...describe(item), signature(item, links))
    if (item.kind === ApiItemKind.Class) parts.push(...classMembers(item as ApiClass, links))
    if (item.kind === ApiItemKind.Interface)
      parts.push(...interfaceMembers(item as ApiInterface, links))
  }
  return parts.filter((part) => part !== '')
}

/** The description of a call, of a constant whose type is an interface that can be called. */
function callOf(item: ApiItem, byName: ReadonlyMap<string, ApiItem>, links: Links): string[] {
  if (item.kind !== ApiItemKind.Variable) return []
  const calls = references(item)
    .flatMap((name) => byName.get(name)?.members ?? [])
    .filter(({ kind }) => kind === ApiItemKind.CallSignature)
  return calls.flatMap((call) => [...describe(call), signature(call, links)])
}

function describe(item: ApiItem): string[] {
  if (!(item instanceof ApiDocumentedItem) || !item.tsdocComment) return []
  // API Extractor writes this where a constructor has no comment.
  if (item.kind === ApiItemKind.Constructor) return []
  return [commentText(item.tsdocComment), ...defaultOf(item)]
}

const defaultOf = (item: ApiItem): string[] => {
  if (!(item instanceof ApiDocumentedItem) || !item.tsdocComment) return []
  const text = blockText(item.tsdocComment, '@defaultValue')
  return text === ''
    ? []
    : [`Default: ${/^[\w.'"-]+$|^\{.*\}$/.test(text) ? `\`${text}\`` : text}.`]
}

// A table of data, such as the workflow catalogue, is no signature to read.
const MAX_SIGNATURE = 2000

/** The declaration as it is written; of a class or interface only its head. */
function signature(item: ApiItem, links: Links): string {
  if (!(item instanceof ApiDeclaredItem)) return ''
  const whole = item.excerpt.text.replace(/^export (declare )?/, '')
  const text = whole.length > MAX_SIGNATURE ? `${whole.slice(0, whole.indexOf('{'))}{ … }` : whole
  return `\`\`\`ts\n${text}\n\`\`\`${see(item.excerpt, item.displayName, links)}`
}

/** Links to what the declaration names, on a line below it. */
function see(excerpt: Excerpt, self: string, links: Links): string {
  const list = named(excerpt, self, links)
  return list.length === 0 ? '' : `\n\nSee ${list.join(', ')}.`
}

function named(excerpt: Excerpt, self: string, links: Links): string[] {
  const found = new Map<string, string>()
  for (const token of excerpt.spannedTokens) {
    if (token.kind !== ExcerptTokenKind.Reference) continue
    const name = referenceName(token.canonicalReference) ?? token.text
    const to = links(name)
    if (to !== undefined && name !== self) found.set(token.text, to)
  }
  return [...found].map(([text, to]) => `[\`${text}\`](${to})`)
}

function classMembers(item: ApiClass, links: Links): string[] {
  const properties = item.members.filter(
    (member): member is ApiPropertyItem => member instanceof ApiPropertyItem,
  )
  const methods = item.members
    .filter((member) => !(member instanceof ApiPropertyItem))
    .toSorted((a, b) => rank(a) - rank(b))
  return [
    ...propertyTable(properties, links),
    ...methods.flatMap((member, i) => {
      const name =
        member.kind === ApiItemKind.Constructor
          ? 'constructor'
          : member.displayName.replace(/^\[.*\.(\w+)\]$/, '[Symbol.$1]')
      // Overloads share a heading.
      const isNew = methods[i - 1]?.displayName !== member.displayName
      return [
        ...(isNew ? [`### ${name.replaceAll('[', '\\[')}`] : []),
        ...describe(member),
        signature(member, links),
      ]
    }),
  ]
}

function interfaceMembers(item: ApiInterface, links: Links): string[] {
  const properties = item.members.filter(
    (member): member is ApiPropertyItem => member instanceof ApiPropertyItem,
  )
  const others = item.members.filter((member) => !(member instanceof ApiPropertyItem))
  return [
    ...propertyTable(properties, links),
    ...others.flatMap((member) => [
      `### ${member.displayName.replace(/^\(?\[.*?([\w.]+)\]\)?$/, '$1') || 'call'}`,
      ...describe(member),
      signature(member, links),
    ]),
  ]
}

/** The constructor comes first, methods of symbols last. */
const rank = ({ kind, displayName }: ApiItem): number =>
  kind === ApiItemKind.Constructor ? 0 : displayName.startsWith('[') ? 2 : 1

const cell = (text: string): string => text.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')

function propertyTable(properties: readonly ApiPropertyItem[], links: Links): string[] {
  if (properties.length === 0) return []
  const rows = properties.map((property) => {
    const type = property.propertyTypeExcerpt
    const see = named(type, '', links)
    const text = [
      ...describe(property).map((part) => part.replaceAll('\n\n', ' ')),
      ...(see.length === 0 ? [] : [`See ${see.join(', ')}.`]),
    ].join(' ')
    const mark = property.isOptional ? '?' : ''
    return `| \`${property.displayName}${mark}\` | \`${cell(type.text)}\` | ${cell(text)} |`
  })
  return [['| Property | Type | Description |', '| --- | --- | --- |', ...rows].join('\n')]
}
