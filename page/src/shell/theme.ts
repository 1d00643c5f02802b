/** Light, dark, or as the system has it; kept in this browser. */
import { computed, signal } from "@preact/signals";

export type Theme = "light" | "dark" | "system";
export const theme = signal<Theme>((localStorage.getItem("weft.theme") as Theme | null) ?? "system");

const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", () => (systemDark.value = system.matches));
/** What is shown now. */
export const scheme = computed(() => (theme.value === "system" ? (systemDark.value ? "dark" : "light") : theme.value));

export function setTheme(wanted: Theme): void {
  theme.value = wanted;
  localStorage.setItem("weft.theme", wanted);
  applyTheme();
}

export function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}
