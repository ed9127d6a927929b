package form

import (
	"epitome/pattern"
	"epitome/rewrite/excerpt/glance"
)

// engineRows are what engines of games write, and what they are built with on Windows.
var engineRows = []Row{
	// Unity
	{Tool: "Unity", Kind: Failure, Whole: true, first: "Shader error in '",
		sample: "Shader error in 'Shop/Coupon': undeclared identifier '_Tint' at line 57 (on d3d11)"},
	{Tool: "Unity", Kind: Warning, first: "Shader warning in '",
		sample: "Shader warning in 'Shop/Coupon': implicit truncation of vector type at line 58 (on d3d11)"},
	{Tool: "Unity", Kind: State, first: "Scripts have compiler errors.", Says: Fails, sample: "Scripts have compiler errors."},
	{Tool: "Unity", Kind: State, first: "Aborting batchmode due to failure:", Says: Fails, sample: "Aborting batchmode due to failure:"},
	{Tool: "Unity", Kind: State, first: "Exiting batchmode successfully now!", Says: Succeeds, sample: "Exiting batchmode successfully now!"},
	// Godot
	{Tool: "Godot", Kind: Failure, Whole: true, first: "SCRIPT ERROR: ",
		sample: "SCRIPT ERROR: Invalid call. Nonexistent function 'get_total' in base 'Nil'."},
	{Tool: "Godot", Kind: Failure, Whole: true, begins: "E", like: pattern.Of(`^E \d+:\d\d:\d\d[.:]\d+ +\S+:\d+ @ `), has: " @ ",
		sample: `E 0:00:07:0112   cart_view.gd:57 @ _ready(): Node not found: "Panel/Total" (relative to "/root/Main").`},
	{Tool: "Godot", Kind: Warning, begins: "W", like: pattern.Of(`^W \d+:\d\d:\d\d[.:]\d+ +\S+:\d+ @ `), has: " @ ",
		sample: `W 0:00:07:0112   cart_view.gd:58 @ _ready(): The cart is empty.`},
	{Tool: "Godot", Kind: Frame, first: "at: ", like: pattern.Of(`^at: \S+ \(res://\S+:\d+\)\r?$`),
		sample: "          at: _process (res://scripts/cart_view.gd:57)"},
	// Unreal
	{Tool: "Unreal", Kind: Failure, Whole: true, needs: glance.Fail, first: "Log", like: pattern.Of(`^Log\w+: (Error|Fatal): \S`),
		sample: "[2026.11.20-09.31.14:113][ 42]LogBlueprint: Error: [Compiler] Could not find a variable named \"Total\" in 'BP_Cart'."},
	{Tool: "Unreal", Kind: Warning, needs: glance.Warn, first: "Log", like: pattern.Of(`^Log\w+: Warning: \S`),
		sample: "[2026.11.20-09.31.14:113][ 42]LogProperty: Warning: Serialized Class /Script/Engine.Cart is gone"},
	{Tool: "Unreal", Kind: State, first: "AutomationTool exiting with ExitCode=", like: pattern.Of(`ExitCode=[1-9]`), Says: Fails,
		sample: "AutomationTool exiting with ExitCode=25 (Error_UnknownCookFailure)"},
	{Tool: "Unreal", Kind: State, first: "AutomationTool exiting with ExitCode=0", Says: Succeeds,
		sample: "AutomationTool exiting with ExitCode=0 (Success)"},
	// Microsoft's compiler and linker
	{Tool: "cl", Kind: Failure, Whole: true, needs: glance.Fail, has: ": error ", like: pattern.Of(`\(\d+(,\d+)?\) ?: error [A-Z]\d{4}: `),
		sample: `D:\shop\Source\CartView.cpp(57): error C2065: 'Total': undeclared identifier`},
	{Tool: "cl", Kind: Failure, Whole: true, needs: glance.Fail, has: ": fatal error ", like: pattern.Of(`^\S.*: fatal error [A-Z]{1,3}\d{4}: `),
		sample: "LINK : fatal error LNK1104: cannot open file 'payout.lib'"},
}
