const PATHS = {
  now: "M2 8h3l2-5 3 10 2-5h3",
  inbox: "M2 9l2-6h8l2 6v4H2zM2 9h4l1 2h2l1-2h4",
  timeline: "M2 4h6M5 8h7M3 12h5",
  graph: "M3 3h3v3H3zM10 3h3v3h-3zM10 10h3v3h-3zM6 4.5h4M11.5 6v4",
  board: "M2.5 3h3v10h-3zM6.5 3h3v7h-3zM10.5 3h3v5h-3z",
  train: "M2 12h12M3 4h4v5H3zM9 6h4v3H9zM7 7h2",
  cost: "M2 13V3M2 13h12M4 10l3-4 3 2 4-5",
  health: "M8 14S2 10 2 6a3 3 0 0 1 6-1 3 3 0 0 1 6 1c0 4-6 8-6 8z",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  find: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM11 11l3 3",
  command: "M3 4l4 4-4 4M9 12h5",
  copy: "M5 5h8v8H5zM3 11V3h8",
  task: "M3 3h10v10H3zM6 6h4M6 9h4",
  link: "M7 9a3 3 0 0 0 4.2 0l2-2a3 3 0 0 0-4.2-4.2l-1 1M9 7a3 3 0 0 0-4.2 0l-2 2a3 3 0 0 0 4.2 4.2l1-1",
  theme: "M8 2.7a5.3 5.3 0 1 0 0 10.6zM8 2.7a5.3 5.3 0 0 1 0 10.6",
} as const

export type IconName = keyof typeof PATHS

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth={name === "more" ? 2.4 : 1.4}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  )
}

export function Logo() {
  return (
    <svg
      width="20"
      height="20"
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="2.2"
      aria-hidden="true"
    >
      <path d="M8 3H5.5A2.5 2.5 0 0 0 3 5.5v9A2.5 2.5 0 0 0 5.5 17H11V9" />
      <path d="M12 17h2.5a2.5 2.5 0 0 0 2.5-2.5v-9A2.5 2.5 0 0 0 14.5 3H9v8" />
    </svg>
  )
}
