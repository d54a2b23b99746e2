import { type Group, groupOf, isGroup, type Member, type Row } from './model.js'

/*
 * Edits of the tree of rows and groups; each gives a new tree.
 */

/** Rewrites the group that holds a member, wherever it is. */
function inHolder(
  root: Group,
  id: number,
  change: (members: readonly Member[], at: number) => readonly Member[],
): Group {
  const at = root.members.findIndex((member) => member.id === id)
  if (at !== -1) return { ...root, members: change(root.members, at) }
  const members = root.members.map((member) =>
    isGroup(member) ? inHolder(member, id, change) : member,
  )
  return { ...root, members }
}

/** Without groups that hold nothing, but for the outermost. */
function pruned(root: Group): Group {
  const members = root.members
    .map((member) => (isGroup(member) ? pruned(member) : member))
    .filter((member) => !isGroup(member) || member.members.length > 0)
  return { ...root, members }
}

/** Changes a row; it is then no longer what it was read from. */
export function changeRow(root: Group, id: number, change: Partial<Row>): Group {
  return inHolder(root, id, (members, at) => {
    const { source: _, ...row } = members[at] as Row
    return members.with(at, { ...row, ...change })
  })
}

export const removeMember = (root: Group, id: number): Group =>
  pruned(inHolder(root, id, (members, at) => members.toSpliced(at, 1)))

export const addAfter = (root: Group, id: number, member: Member): Group =>
  inHolder(root, id, (members, at) => members.toSpliced(at + 1, 0, member))

/** Adds at the end of a group, the outermost or another. */
export function addTo(root: Group, groupId: number, member: Member): Group {
  if (root.id === groupId) return { ...root, members: [...root.members, member] }
  return inHolder(root, groupId, (members, at) => {
    const group = members[at] as Group
    return members.with(at, { ...group, members: [...group.members, member] })
  })
}

export function turnGroup(root: Group, id: number): Group {
  const turned = (group: Group): Group => ({
    ...group,
    combinator: group.combinator === 'and' ? 'or' : 'and',
  })
  if (root.id === id) return turned(root)
  return inHolder(root, id, (members, at) => members.with(at, turned(members[at] as Group)))
}

/** A group for the other word than the one around it, after all else of that group. */
export function addGroup(root: Group, within: Group, row: Row): Group {
  return addTo(root, within.id, groupOf(within.combinator === 'and' ? 'or' : 'and', [row]))
}

/**
 * Moves a member one place up or down as they are read: past a row, into a group, and out of one
 * at its ends.
 */
export function moveMember(root: Group, id: number, step: 1 | -1): Group {
  const holder = holderOf(root, id)
  if (!holder) return root
  const at = holder.members.findIndex((member) => member.id === id)
  const member = holder.members[at]!
  const beside = holder.members[at + step]
  if (!beside) {
    if (holder === root) return root
    const without = inHolder(root, id, (members, at) => members.toSpliced(at, 1))
    return pruned(
      inHolder(without, holder.id, (members, at) =>
        members.toSpliced(step === 1 ? at + 1 : at, 0, member),
      ),
    )
  }
  const without = inHolder(root, id, (members, at) => members.toSpliced(at, 1))
  return inHolder(without, beside.id, (members, at) => {
    if (!isGroup(beside)) return members.toSpliced(step === 1 ? at + 1 : at, 0, member)
    const inner = step === 1 ? [member, ...beside.members] : [...beside.members, member]
    return members.with(at, { ...beside, members: inner })
  })
}

function holderOf(group: Group, id: number): Group | undefined {
  if (group.members.some((member) => member.id === id)) return group
  for (const member of group.members) {
    const found = isGroup(member) ? holderOf(member, id) : undefined
    if (found) return found
  }
  return undefined
}

/** All rows, as they are read. */
export const rowsOf = (group: Group): readonly Row[] =>
  group.members.flatMap((member) => (isGroup(member) ? rowsOf(member) : [member]))
