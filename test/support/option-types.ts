import fs from 'node:fs'
import path from 'node:path'
import { parseSync } from 'vite'

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === 'object' && 'type' in value

const nodesIn = (value: unknown): readonly Node[] => {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  if (!isNode(value)) return []
  return [value, ...Object.values(value).flatMap(nodesIn)]
}

const nameOf = (value: unknown): string =>
  isNode(value) && typeof value['name'] === 'string' ? value['name'] : ''

/** The names of types that an annotation refers to; `{}` for one that is written in place. */
const typesIn = (annotation: unknown): readonly string[] =>
  nodesIn(annotation).flatMap((node) => {
    if (node.type === 'TSTypeReference') return [nameOf(node['typeName'])]
    return node.type === 'TSTypeLiteral' ? ['{}'] : []
  })

/** The types of the parameters that take options, by name or by being taken apart. */
const ofParameters = (parameters: unknown): readonly string[] =>
  nodesIn(parameters).flatMap((node) => {
    const given = node.type === 'AssignmentPattern' ? (node['left'] as Node) : node
    const isOptions =
      (given.type === 'Identifier' && /^(?:options|given|details)$/.test(nameOf(given))) ||
      given.type === 'ObjectPattern'
    return isOptions ? typesIn(given['typeAnnotation']) : []
  })

const isPublic = (node: Node): boolean =>
  !isNode(node['key']) || node['key'].type !== 'PrivateIdentifier'

/** The types of options that a declaration takes: a function, or the methods of a class or an interface. */
function ofDeclaration(declaration: Node): readonly string[] {
  const methods = nodesIn(declaration).filter(
    ({ type }) => type === 'MethodDefinition' || type === 'TSMethodSignature',
  )
  if (methods.length > 0)
    return methods
      .filter(isPublic)
      .flatMap((method) => ofParameters(method['params'] ?? (method['value'] as Node)['params']))
  return /^(?:Function|Arrow)/.test(declaration.type)
    ? ofParameters(declaration['params'])
    : nodesIn(declaration['declarations'])
        .filter(({ type }) => type === 'ArrowFunctionExpression')
        .flatMap((arrow) => ofParameters(arrow['params']))
}

/** A declaration that a file exports, by its name. */
function declarationsOf(body: readonly Node[]): ReadonlyMap<string, Node> {
  const exported = body.flatMap((node) =>
    isNode(node['declaration']) ? [node['declaration']] : [],
  )
  return new Map(
    exported.flatMap((declaration): [string, Node][] =>
      isNode(declaration['id'])
        ? [[nameOf(declaration['id']), declaration]]
        : ((declaration['declarations'] ?? []) as Node[]).map(({ id }) => [
            nameOf(id),
            declaration,
          ]),
    ),
  )
}

const bodyOf = (file: string): readonly Node[] =>
  parseSync(file, fs.readFileSync(file, 'utf8')).program.body as unknown as readonly Node[]

/** Where a file gets what it imports, and what it exports from elsewhere, by name. */
function exportsOf(entry: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const node of bodyOf(entry)) {
    if (!isNode(node['source'])) continue
    const file = path
      .join(path.dirname(entry), String(node['source']['value']))
      .replace(/\.js$/, '.ts')
    if (node.type === 'ExportAllDeclaration') for (const one of exportsOf(file)) found.set(...one)
    for (const { local } of (node['specifiers'] ?? []) as Node[]) found.set(nameOf(local), file)
  }
  return found
}

/** The declaration of a name that a file exports, and those of the classes that it extends. */
function withBases(file: string, name: string): readonly Node[] {
  const declaration = declarationsOf(bodyOf(file)).get(name)
  if (!declaration) return []
  const base = nameOf(declaration['superClass'])
  const baseFile = exportsOf(file).get(base)
  return baseFile === undefined ? [declaration] : [declaration, ...withBases(baseFile, base)]
}

const HELPERS = /^(?:Pick|Omit|Partial|Readonly|Record|Iterable|readonly)$/

/**
 * The types of options of an entry point, with where they were found: those that its functions, and the methods of its classes
 * and interfaces, take, and those that it exports with a name that says so.
 */
export function optionTypesOf(entry: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [name, file] of exportsOf(entry)) {
    if (/(?:Options|Limits|Rule|Hold|Definition|Policies)$/.test(name)) found.set(name, entry)
    for (const type of withBases(file, name).flatMap(ofDeclaration))
      if (!HELPERS.test(type)) found.set(type === '{}' ? `{} of ${name}` : type, entry)
  }
  return found
}
