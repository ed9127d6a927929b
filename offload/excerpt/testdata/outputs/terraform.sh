# terraform apply of 120 resources of its own provider; the command of one fails the first time; then again, and what there is.
cat > main.tf <<'END'
resource "terraform_data" "bucket" {
  for_each = toset([for i in range(1, 121) : format("archive-%03d", i)])
  input    = { name = each.key, error_document = "error.html", region = "eu-1" }
  provisioner "local-exec" {
    command = each.key == "archive-058" ? "test -e ready || { touch ready; echo 'policy archive-058: principal is not valid' >&2; exit 4; }" : "echo created ${each.key} without errors"
  }
}
END
export CHECKPOINT_DISABLE=1
unset TF_CLI_CONFIG_FILE
terraform init -no-color >&2
terraform apply -no-color -auto-approve -parallelism=1 >first 2>&1
{ terraform apply -no-color -auto-approve; terraform show -no-color; } >second 2>&1
sed -n '/^Plan: /,$p' first; cat second
