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

/** The names of types in an annotation; `{}` for an inline type. */
const typesIn = (annotation: unknown): readonly string[] =>
  nodesIn(annotation).flatMap((node) => {
    if (node.type === 'TSTypeReference') return [nameOf(node['typeName'])]
    return node.type === 'TSTypeLiteral' ? ['{}'] : []
  })

/** The types of parameters that are options, recognized by name or by destructuring. */
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

const bodies = new Map<string, readonly Node[]>()

function bodyOf(file: string): readonly Node[] {
  const body =
    bodies.get(file) ??
    (parseSync(file, fs.readFileSync(file, 'utf8')).program.body as unknown as readonly Node[])
  bodies.set(file, body)
  return body
}

const sourceOf = (file: string, { source }: Node): string | undefined =>
  isNode(source) && String(source['value']).startsWith('.')
    ? path.join(path.dirname(file), String(source['value'])).replace(/\.js$/, '.ts')
    : undefined

/** The declaration of a name, and its file. */
interface Declared {
  readonly file: string
  readonly node: Node
}

/** The names that a statement declares, with their declarations. */
function declaredBy(statement: Node): readonly (readonly [name: string, node: Node])[] {
  const declaration = isNode(statement['declaration']) ? statement['declaration'] : statement
  if (isNode(declaration['id'])) return [[nameOf(declaration['id']), declaration]]
  return ((declaration['declarations'] ?? []) as Node[]).map((one) => [nameOf(one['id']), one])
}

/** The declaration of a name that a file declares, imports or exports. */
function declarationIn(file: string, name: string): Declared | undefined {
  for (const statement of bodyOf(file)) {
    const own = declaredBy(statement).find(([declared]) => declared === name)
    if (own) return { file, node: own[1] }
    const source = sourceOf(file, statement)
    if (source === undefined) continue
    const given = ((statement['specifiers'] ?? []) as Node[]).find(
      ({ local, exported = local }) => nameOf(exported) === name,
    )
    const found = given
      ? declarationIn(source, nameOf(given['imported'] ?? given['local']))
      : statement.type === 'ExportAllDeclaration' && declarationIn(source, name)
    if (found) return found
  }
  return undefined
}

/** The names that a file exports. */
const exportedBy = (file: string): readonly string[] =>
  bodyOf(file).flatMap((statement) => {
    if (statement.type === 'ExportAllDeclaration') return exportedBy(sourceOf(file, statement)!)
    if (statement.type !== 'ExportNamedDeclaration') return []
    if (isNode(statement['declaration'])) return declaredBy(statement).map(([name]) => name)
    return (statement['specifiers'] as Node[]).map(({ exported }) => nameOf(exported))
  })

/** The declaration of a function that is called, also as a member of a namespace: `mounting.auditRoutes`. */
function calledIn(file: string, callee: Node): Declared | undefined {
  if (callee.type !== 'MemberExpression') return declarationIn(file, nameOf(callee))
  const namespace = bodyOf(file).find(
    ({ specifiers }) =>
      Array.isArray(specifiers) &&
      (specifiers as Node[]).some(({ local }) => nameOf(local) === nameOf(callee['object'])),
  )
  return namespace && declarationIn(sourceOf(file, namespace)!, nameOf(callee['property']))
}

/** The type of a constant: its annotation, or the annotation of the result of the function that makes it. */
function typeOf({ file, node }: Declared): Declared | undefined {
  const annotation = (node['id'] as Node)['typeAnnotation']
  if (isNode(annotation)) return { file, node: annotation['typeAnnotation'] as Node }
  const init = node['init'] as Node
  const called = init.type === 'CallExpression' ? calledIn(file, init['callee'] as Node) : undefined
  const { returnType } = (called?.node['init'] ?? called?.node ?? {}) as Partial<Node>
  return called && isNode(returnType)
    ? { file: called.file, node: returnType['typeAnnotation'] as Node }
    : undefined
}

const METHODS = /^(?:MethodDefinition|TSMethodSignature|TSCallSignatureDeclaration)$/

/** The types of options that the methods of a class or an interface take, and an interface itself if it can be called. */
const ofMembers = (declaration: Node): readonly string[] =>
  nodesIn(declaration)
    .filter(({ type }) => METHODS.test(type))
    .filter(isPublic)
    .flatMap((method) => ofParameters(method['params'] ?? (method['value'] as Node)['params']))

const parametersOf = (declaration: Node, key: string): readonly Node[] =>
  isNode(declaration[key]) ? (declaration[key]['params'] as Node[]) : []

/** The types of options that functions of a type take, with the arguments of the type put in. */
function ofType({ file, node }: Declared): readonly string[] {
  const declared = declarationIn(file, nameOf(node['typeName']))
  if (!declared) return []
  const names = parametersOf(declared.node, 'typeParameters').map(({ name }) => nameOf(name))
  const given = parametersOf(node, 'typeArguments')
  return ofMembers(declared.node).flatMap((type) =>
    names.includes(type) ? typesIn(given[names.indexOf(type)]) : [type],
  )
}

/** The types of options that a declaration takes: a function, or the methods of a class or an interface, and of its bases. */
function ofDeclaration(declared: Declared): readonly string[] {
  const { file, node } = declared
  if (node.type === 'VariableDeclarator') {
    const type = typeOf(declared)
    if (type) return ofType(type)
    const init = node['init'] as Node
    return /Arrow/.test(init.type) ? ofParameters(init['params']) : []
  }
  if (node.type.startsWith('Function')) return ofParameters(node['params'])
  const base = declarationIn(file, nameOf(node['superClass']))
  return [...ofMembers(node), ...(base ? ofDeclaration(base) : [])]
}

const HELPERS = /^(?:Pick|Omit|Partial|Readonly|Record|Iterable|readonly)$/

/**
 * The types of options of an entry point, with their places: options of its functions and of the methods of its
 * classes and interfaces, and exported types whose names look like options.
 */
export function optionTypesOf(entry: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of exportedBy(entry)) {
    if (/(?:Options|Limits|Rule|Hold|Definition|Policies)$/.test(name)) found.set(name, entry)
    const declared = declarationIn(entry, name)
    for (const type of declared ? ofDeclaration(declared) : [])
      if (!HELPERS.test(type)) found.set(type === '{}' ? `{} of ${name}` : type, entry)
  }
  return found
}
